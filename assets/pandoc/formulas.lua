-- Says in formulas what pandoc's reader of formulas does not know by what it knows. Hazard: for one command that it does not
-- know it would print the whole formula as its code. What it knows differs inside of \text, so a pass over the formula keeps
-- track of the braces.

-- What commands for text print.
local signs = {
  textbackslash = '\\', textasciicircum = '^', textasciitilde = '~', textquotedbl = '"', textquotesingle = "'",
  textasciigrave = '`', textless = '<', textgreater = '>', textbar = '|', textunderscore = '_', textdollar = '$',
  textdegree = '°', texteuro = '€', textsterling = '£', textyen = '¥', textminus = '−', textendash = '–', textemdash = '—',
}
-- How some of these are written inside of \text; the others as themselves.
local written = {
  ['\\'] = '\\textbackslash{}', ['^'] = '\\textasciicircum{}', ['~'] = '\\textasciitilde{}', ["'"] = "\\char`'",
  ['`'] = '\\char``', ['_'] = '\\_', ['$'] = '\\$',
  ['#'] = '\\#', ['&'] = '\\&',
}
-- Signs that a formula would not show as they are.
local only_text = { ['\\'] = true, ['^'] = true, ['~'] = true, ['"'] = true, ["'"] = true, ['`'] = true }
-- LibreOffice reads the formulas of Word documents by a language in which some signs are commands, and writes a backslash before
-- brackets in text. So there the former are text, and the latter are none.
local for_word = FORMAT == 'docx'
local commands_of_word = { ['#'] = true, ['&'] = true, ['_'] = true, ['['] = true, [']'] = true, ['|'] = true }
local brackets = { ['('] = true, [')'] = true, ['\\{'] = true, ['\\}'] = true }
-- Spaces: a formula would show none.
local spaces = { ['~'] = true, ['\u{a0}'] = true, ['\u{202f}'] = true, ['\u{205f}'] = true, ['\u{3000}'] = true }
for letter = 0x2000, 0x200a do spaces[utf8.char(letter)] = true end
-- Commands with text as their argument, and those that the reader has no name for.
local boxes = { text = true, mbox = true, hbox = true, textrm = true, textsf = true, texttt = true, textbf = true,
  textit = true }
local other_boxes = { textnormal = true, textup = true, textmd = true, textsl = true, textsc = true, emph = true }

local function in_known_words(formula)
  local made, at = {}, 1
  -- The braces and dollars that are open: whether text is inside, and what closes it.
  local open = { { is_text = false } }
  local box_next
  local function add(text) made[#made + 1] = text end
  local function sign(letter)
    if open[#open].is_text then return add(written[letter] or letter) end
    local is_text = only_text[letter] or for_word and commands_of_word[letter]
    add(is_text and '\\text{' .. (written[letter] or letter) .. '}' or written[letter] or letter)
  end
  -- A label stays as it is; a tag becomes the characters that it prints, with signs of ours for those that mean
  -- something in formulas (numbers.lua).
  local function argument(name)
    local star, first = formula:match('^(%*?)%s*{()', at)
    local last, depth = first, 1
    while last and depth > 0 and last <= #formula do
      local letter = formula:sub(last, last)
      depth = depth + (letter == '{' and 1 or letter == '}' and -1 or 0)
      last = last + (letter == '\\' and 2 or 1)
    end
    if depth > 0 then return add('\\' .. name) end
    local text = formula:sub(first, last - 2)
    at = last
    if name == 'tag' then
      text = pandoc.utils.stringify(pandoc.read(text, 'latex').blocks)
      text = text:gsub('[{}\\]', { ['{'] = '\u{E000}', ['}'] = '\u{E001}', ['\\'] = '\u{E002}' })
    end
    add('\\' .. name .. star .. '{' .. text .. '}')
  end
  local function command(name)
    local is_text = open[#open].is_text
    if signs[name] then
      -- The braces, or the spaces, that end the name.
      local _, last = formula:find('^%s*{}', at)
      if not last then _, last = formula:find('^%s*', at) end
      at = last + 1
      return sign(signs[name])
    end
    if name == 'tag' or name == 'label' then return argument(name) end
    local is_other = other_boxes[name]
    if not boxes[name] and not is_other then return add('\\' .. name) end
    -- One box inside of another is none to the reader, but its braces are.
    local box = is_text and '' or is_other and '\\text' or '\\' .. name
    if formula:find('^%s*{', at) then
      box_next = box
    else
      add(box)
    end
  end
  while at <= #formula do
    local name = formula:match('^\\(%a+)', at)
    local letter = formula:match('^' .. utf8.charpattern, at) or formula:sub(at, at)
    local top = open[#open]
    if formula:find('^\\mbox{}', at) then
      -- In Word it would be a space without width.
      at = at + #'\\mbox{}'
    elseif name then
      at = at + 1 + #name
      command(name)
    elseif formula:find('^\\`{}', at) then
      at = at + 4
      sign('`')
    elseif formula:find('^\\%-', at) then
      at = at + 2
    elseif top.is_text and letter == '-' and not formula:find('^-', at + 1) and formula:sub(at - 1, at - 1) ~= '-' then
      -- One that is not joined with another into a dash.
      add('{-}')
      at = at + 1
    elseif formula:find('^|{}', at) then
      -- A \textbar of prelude.tex.
      at = at + 3
      sign('|')
    elseif not top.is_text and formula:find('^{[][]}', at) then
      sign(formula:sub(at + 1, at + 1))
      at = at + 3
    elseif formula:find('^\\[#&_]', at) then
      sign(formula:sub(at + 1, at + 1))
      at = at + 2
    elseif for_word and top.box and (brackets[letter] or brackets[formula:sub(at, at + 1)]) then
      local bracket = brackets[letter] and letter or formula:sub(at, at + 1)
      add('}' .. bracket .. top.box .. '{')
      at = at + #bracket
    elseif letter == '\\' then
      add(formula:sub(at, at + 1))
      at = at + 2
    else
      at = at + #letter
      if letter == '{' then
        local is_box = box_next ~= nil and box_next ~= ''
        open[#open + 1] = { is_text = top.is_text or is_box, box = is_box and box_next or nil, closing = '}' }
        add(is_box and '{' .. box_next .. '{' or letter)
        box_next = nil
      elseif letter == '}' and top.closing == '}' then
        open[#open] = nil
        add(top.box and '}}' or letter)
      elseif letter == '$' and top.closing == '$' then
        open[#open] = nil
        add(letter)
      elseif letter == '$' and top.is_text then
        open[#open + 1] = { is_text = false, closing = '$' }
        add(letter)
      elseif not top.is_text and (spaces[letter] or letter == '"') then
        add('\\text{' .. letter .. '}')
      else
        add(letter)
      end
    end
  end
  return table.concat(made)
end

function Math(math)
  math.text = in_known_words(math.text)
  return math
end
