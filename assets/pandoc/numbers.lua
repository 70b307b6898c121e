-- Numbers formulas, figures and tables as the PDF does, with the words before the numbers, and fills in references to them.
-- pandoc itself numbers sections and theorems.

local names = {
  de = { figure = 'Abbildung', table = 'Tabelle', section = 'Abschnitt', chapter = 'Kapitel', equation = 'Gleichung',
    references = 'Literatur', contents = 'Inhalt' },
  en = { figure = 'Figure', table = 'Table', section = 'Section', chapter = 'Chapter', equation = 'Equation',
    references = 'References', contents = 'Contents' },
  es = { figure = 'Figura', table = 'Tabla', section = 'Sección', chapter = 'Capítulo', equation = 'Ecuación',
    references = 'Referencias', contents = 'Índice' },
  fr = { figure = 'Figure', table = 'Tableau', section = 'Section', chapter = 'Chapitre', equation = 'Équation',
    references = 'Références', contents = 'Table des matières' },
  it = { figure = 'Figura', table = 'Tabella', section = 'Sezione', chapter = 'Capitolo', equation = 'Equazione',
    references = 'Riferimenti bibliografici', contents = 'Indice' },
  nl = { figure = 'Figuur', table = 'Tabel', section = 'Sectie', chapter = 'Hoofdstuk', equation = 'Vergelijking',
    references = 'Referenties', contents = 'Inhoudsopgave' },
  pl = { figure = 'Rysunek', table = 'Tabela', section = 'Rozdział', chapter = 'Rozdział', equation = 'Równanie',
    references = 'Literatura', contents = 'Spis treści' },
  pt = { figure = 'Figura', table = 'Tabela', section = 'Seção', chapter = 'Capítulo', equation = 'Equação',
    references = 'Referências', contents = 'Sumário' },
}
local numbered = {
  equation = 'one', multline = 'one', align = 'rows', gather = 'rows', eqnarray = 'rows', flalign = 'rows', alignat = 'rows',
}

local words, has_chapters = names.en, false
local chapter, counts = 0, { figure = 0, table = 0, equation = 0 }
-- By label {kind, number}; and by key the signs of entries of a bibliography written by hand.
local labels, items, item_count = {}, {}, 0

local function next_number(kind)
  counts[kind] = counts[kind] + 1
  local within = has_chapters and chapter > 0
  return within and string.format('%d.%d', chapter, counts[kind]) or tostring(counts[kind])
end

local function enter(header)
  if has_chapters and header.level == 1 and not header.classes:includes('unnumbered') then
    chapter = chapter + 1
    counts = { figure = 0, table = 0, equation = 0 }
  end
  if header.identifier ~= '' then
    labels[header.identifier] = { kind = has_chapters and header.level == 1 and 'chapter' or 'section' }
  end
end

-- The rows of a formula: what \\ divides outside of braces and inner environments.
local function rows_of(body)
  local rows, depth, start, at = {}, 0, 1, 1
  while at <= #body do
    local two = body:sub(at, at + 1)
    if two == '\\\\' then
      if depth == 0 then
        rows[#rows + 1] = body:sub(start, at - 1)
        start = at + 2
      end
      at = at + 2
    elseif body:find('^\\begin%s*{', at) then
      depth, at = depth + 1, at + 6
    elseif body:find('^\\end%s*{', at) then
      depth, at = depth - 1, at + 4
    elseif two:sub(1, 1) == '\\' then
      at = at + 2
    else
      local one = two:sub(1, 1)
      depth = depth + (one == '{' and 1 or one == '}' and -1 or 0)
      at = at + 1
    end
  end
  rows[#rows + 1] = body:sub(start)
  return rows
end

-- The number of a row, which its labels get; nil for none.
local function number_of(row, is_numbered)
  local tag = row:match('\\tag%*?%s*{([^}]*)}')
  tag = tag and tag:gsub('\u{E000}', '{'):gsub('\u{E001}', '}'):gsub('\u{E002}', '\\')
  local is_silent = row:find('\\nonumber') or row:find('\\notag') or row:match('^%s*$')
  local number = tag or (is_numbered and not is_silent and next_number('equation')) or nil
  for label in row:gmatch('\\label%s*{([^}]*)}') do
    labels[label] = { kind = 'equation', number = number }
  end
  return number
end

local function without_marks(text)
  return (text:gsub('%s*\\tag%*?%s*{[^}]*}', ''):gsub('%s*\\label%s*{[^}]*}', ''):gsub('\\nonumber', ''):gsub('\\notag', ''))
end

-- Word does not number formulas. Each row gets a line of its own, at the first tab stop of the style Equation, and its number
-- is at the second; the alignment of rows to each other is lost. An array would keep it, but by marks that Word understands
-- and LibreOffice prints.
local function in_word(rows, numbers, ids)
  local stop = pandoc.RawInline('openxml', '<w:r><w:tab/></w:r>')
  local inlines = pandoc.Inlines {}
  for at, row in ipairs(rows) do
    if #inlines > 0 then inlines:insert(pandoc.LineBreak()) end
    inlines:extend { stop, pandoc.Math('InlineMath', '\\displaystyle ' .. row), stop }
    if numbers[at] then inlines:insert(pandoc.Str('(' .. numbers[at] .. ')')) end
  end
  for at = 2, #ids do inlines:insert(pandoc.Span({}, { id = ids[at] })) end
  return pandoc.Span(inlines, { id = ids[1] or '', class = 'equation' })
end

local function formula(math)
  if math.mathtype ~= 'DisplayMath' then return nil end
  local name, star, body = math.text:match('^%s*\\begin{(%a+)(%*?)}(.-)\\end{%a+%*?}%s*$')
  local way = name and numbered[name]
  if name == 'alignat' then body = body:gsub('^%s*{%d*}', '') end
  local rows = way == 'rows' and rows_of(body) or { way and name ~= 'multline' and body or math.text }
  if #rows > 1 and rows[#rows]:match('^%s*$') then rows[#rows] = nil end
  local numbers, signs, ids, has_number = {}, pandoc.Inlines {}, {}, false
  for at, row in ipairs(rows) do
    numbers[at] = number_of(row, way and star == '')
    has_number = has_number or numbers[at] ~= nil
    -- One for each row, empty where the row has no number: so each number is beside its row.
    signs:insert(pandoc.Span(numbers[at] and '(' .. numbers[at] .. ')' or ''))
  end
  for label in math.text:gmatch('\\label%s*{([^}]*)}') do ids[#ids + 1] = label end
  math.text = without_marks(math.text)
  local is_array = way == 'rows'
  if FORMAT == 'docx' and (is_array or has_number or #ids > 0) then
    for at, row in ipairs(rows) do
      row = without_marks(row)
      rows[at] = is_array and row:gsub('([^\\])&', '%1'):gsub('^&', '') or row
    end
    return in_word(rows, numbers, ids), false
  end
  if not has_number and #ids == 0 then return math end
  local anchors = pandoc.Inlines {}
  for at = 2, #ids do anchors:insert(pandoc.Span({}, { id = ids[at] })) end
  -- `false`: it is not walked into, or the formula in it would be numbered again, without an end.
  local marks = pandoc.Span(signs, { class = 'equation-number' })
  return pandoc.Span(pandoc.Inlines { math, marks } .. anchors, { id = ids[1] or '', class = 'equation' }), false
end

local function named(caption, kind, number)
  local first = caption.long[1]
  if not first or not first.content then return end
  first.content = pandoc.Inlines { pandoc.Str(words[kind] .. '\u{a0}' .. number .. ':'), pandoc.Space() } .. first.content
end

-- Numbers a figure; one inside of another has the outer one's number and a letter.
local function figure(block)
  local number = #block.caption.long > 0 and next_number('figure') or nil
  local letter = 0
  block.content = block.content:walk {
    Figure = function(inner)
      letter = letter + 1
      local sign = string.char(96 + math.min(letter, 26))
      labels[inner.identifier] = { kind = 'figure', number = (number or '') .. sign }
      local first = inner.caption.long[1]
      if first and first.content then first.content:insert(1, pandoc.Str('(' .. sign .. ')\u{a0}')) end
      return inner
    end,
  }
  if number then
    labels[block.identifier] = { kind = 'figure', number = number }
    named(block.caption, 'figure', number)
  end
  return block
end

local function tabular(block, label)
  if #block.caption.long == 0 then return block end
  local number = next_number('table')
  labels[block.identifier ~= '' and block.identifier or label] = { kind = 'table', number = number }
  named(block.caption, 'table', number)
  return block
end

local function entry(div)
  local key = div.identifier:match('^platen%-bib%-(.*)$')
  if not key then return nil end
  item_count = item_count + 1
  local sign = pandoc.utils.stringify(div)
  items[key] = sign ~= '' and sign or tostring(item_count)
  div.content = { pandoc.Plain { pandoc.Str('[' .. items[key] .. ']') } }
  div.classes:insert('bibitem')
  return div
end

local count = {
  traverse = 'topdown',
  Header = function(header) enter(header) end,
  Math = formula,
  Figure = function(block)
    local made = figure(block)
    made.content = made.content:walk { Math = formula }
    return made, false
  end,
  Table = function(block) return tabular(block, '') end,
  Div = function(div)
    local made = entry(div)
    if made then return made, false end
    -- A table's label is on the Div around it.
    if div.identifier ~= '' and #div.content == 1 and div.content[1].t == 'Table' then
      div.content[1] = tabular(div.content[1], div.identifier)
      div.content[1] = div.content[1]:walk { Math = formula }
      return div, false
    end
  end,
}

local function refer(link)
  local kind, key = link.attributes['reference-type'] or '', link.attributes['reference']
  if not key then return nil end
  link.attributes = {}
  local label, said = labels[key] or {}, pandoc.utils.stringify(link)
  local is_unknown = not label.number and said == '[' .. key .. ']'
  if is_unknown then
    pandoc.log.warn('reference: ' .. key)
    return pandoc.Str('??')
  end
  local number = label.number or said
  if kind == 'eqref' then number = '(' .. number .. ')' end
  if kind:find('label') or kind:find('Label') then
    local word = words[label.kind or '']
    number = word and (word .. '\u{a0}' .. number) or number
  end
  link.content = { pandoc.Str(number) }
  return link
end

-- A citation of a bibliography written by hand; pandoc does any other.
local function cite(element)
  local shown = pandoc.Inlines {}
  for at, citation in ipairs(element.citations) do
    local item = items[citation.id]
    if not item then return nil end
    if at > 1 then shown:insert(pandoc.Str(', ')) end
    shown:extend(citation.prefix)
    shown:insert(pandoc.Link(item, '#platen-bib-' .. citation.id))
    if #citation.suffix > 0 then
      shown:insert(pandoc.Str(', '))
      shown:extend(citation.suffix)
    end
  end
  return pandoc.Span(pandoc.Inlines { pandoc.Str('[') } .. shown .. { pandoc.Str(']') })
end

-- For Word: puts the sign of a bibliography's entry into the paragraph of the entry.
local function listed(blocks)
  local made, sign = pandoc.Blocks {}, nil
  for _, block in ipairs(blocks) do
    if sign and block.t == 'Para' then
      local stop = pandoc.RawInline('openxml', '<w:r><w:tab/></w:r>')
      local line = pandoc.Inlines { pandoc.Span(sign.content[1].content, { id = sign.identifier }), stop } .. block.content
      block, sign = pandoc.Div(pandoc.Para(line), { ['custom-style'] = 'Bibliography' }), nil
    elseif sign then
      made:insert(sign)
      sign = nil
    end
    if block.t == 'Div' and block.classes:includes('bibitem') then sign = block else made:insert(block) end
  end
  if sign then made:insert(sign) end
  return made
end

-- For Word: puts numbered formulas into paragraphs of their own.
local function divided(block)
  local blocks, line = pandoc.Blocks {}, pandoc.Inlines {}
  local function flush()
    local has_text = line:find_if(function(inline) return inline.t ~= 'Space' and inline.t ~= 'SoftBreak' end)
    if has_text then blocks:insert(pandoc.Para(line)) end
    line = pandoc.Inlines {}
  end
  for _, inline in ipairs(block.content) do
    if inline.t == 'Span' and inline.classes:includes('equation') then
      flush()
      blocks:insert(pandoc.Div(pandoc.Para { inline }, { ['custom-style'] = 'Equation' }))
    else
      line:insert(inline)
    end
  end
  if #blocks == 0 then return nil end
  flush()
  return blocks
end

function Pandoc(document)
  local meta = document.meta
  local tag = meta.lang and pandoc.utils.stringify(meta.lang) or 'en'
  words = names[tag:match('^%a+')] or names.en
  has_chapters = meta['platen-chapters'] == true
  meta['platen-chapters'] = nil
  meta['toc-title'] = words.contents
  meta['reference-section-title'] = meta['reference-section-title'] or words.references
  document = document:walk(count)
  document = document:walk { Link = refer, Cite = cite }
  return FORMAT == 'docx' and document:walk { Blocks = listed, Para = divided } or document
end
