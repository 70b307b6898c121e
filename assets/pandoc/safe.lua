-- Lets out only text, pictures of the template and links of known schemes. Hazards: the attributes of a listing would become
-- those of an HTML element (onclick), a link may run script, and a picture may be any file or address.

local kept = { width = true, height = true, lang = true, dir = true, startFrom = true, ['custom-style'] = true }
local schemes = { http = true, https = true, mailto = true, tel = true, ftp = true, doi = true }
local formats = { 'pdf', 'png', 'jpg', 'jpeg', 'svg', 'gif', 'eps' }
local shown = { png = true, jpg = true, jpeg = true, svg = true, gif = true, webp = true }
local drawn_dpi = 200
local folders = {}

local function exists(path)
  local file = io.open(path, 'rb')
  if file then file:close() end
  return file ~= nil
end

local function only_kept(element)
  local attributes = {}
  for name, value in pairs(element.attributes) do
    if kept[name] then attributes[name] = value end
  end
  -- Of styles only a colour, as pandoc writes one.
  local style = element.attributes.style
  if style and style:match('^%s*[%a%-]*color%s*:%s*#?[%w]+%s*;?%s*$') then attributes.style = style end
  element.attributes = attributes
  return element
end

-- The file of the template that a name means, as TeX looks for it.
local function find(name)
  local ending = name:match('%.(%w+)$')
  for _, folder in ipairs(folders) do
    if ending and exists(folder .. name) then return folder .. name, ending:lower() end
    for _, format in ipairs(formats) do
      local path = folder .. name .. '.' .. format
      if exists(path) then return path, format end
    end
  end
end

-- The width of the PDF's page from which the picture was drawn.
local function width_of(path)
  local file = assert(io.open(path, 'rb'))
  local size = pandoc.image.size(file:read('a'))
  file:close()
  return string.format('%.3fin', size.width / drawn_dpi)
end

local function image(element)
  local name = element.src
  local function without(kind)
    pandoc.log.warn(kind .. ': ' .. name)
    return pandoc.Inlines {}
  end
  if name:match('^%a[%w+.-]*:') or name:match('^//') then return without('remote') end
  if name:match('^/') or ('/' .. name .. '/'):find('/../', 1, true) then return without('picture') end
  local path, format = find(name)
  if not path then return without('picture') end
  local is_pdf = format == 'pdf'
  if is_pdf then path, format = 'platen-own/' .. path .. '.png', 'png' end
  if not shown[format] or not exists(path) then return without('format') end
  if is_pdf and not element.attributes.width and not element.attributes.height then
    element.attributes.width = width_of(path)
  end
  element.src = path
  return only_kept(element)
end

local function link(element)
  local target = element.target:gsub('[%c%s]', '')
  local scheme = target:match('^([^/?#]*):')
  if scheme and not schemes[scheme:lower()] then
    pandoc.log.warn('link: ' .. element.target)
    return element.content
  end
  return only_kept(element)
end

-- Removes raw content but for the tab stops of numbers.lua.
local function raw(element)
  return element.format == 'openxml' and element.text == '<w:r><w:tab/></w:r>' and element or {}
end

-- Sets the document's properties: the caller's, or else its own, which are LaTeX. Of a Word document pandoc would also print
-- title and author on the page, so these go to word.lua.
local html = { title = 'pagetitle', author = 'author-meta', subject = 'description-meta', keywords = 'keywords' }

local function describe(meta)
  local said, own = meta['platen-properties'] or {}, meta['platen-own-properties'] or {}
  meta['platen-properties'], meta['platen-own-properties'] = nil, nil
  local file = next(own) and assert(io.open('platen-own/prelude.tex', 'rb'))
  local prelude = file and file:read('a') or ''
  if file then file:close() end
  for name, latex in pairs(own) do
    local is_read, document = pcall(pandoc.read, prelude .. pandoc.utils.stringify(latex), 'latex')
    local text = is_read and pandoc.utils.stringify(document.blocks) or ''
    if text ~= '' then said[name] = said[name] or pandoc.Inlines(text) end
  end
  if FORMAT == 'docx' then
    meta['platen-core'] = { title = said.title, author = said.author }
    meta.subject = said.subject or meta.subject
    meta.keywords = said.keywords and pandoc.MetaList { said.keywords } or meta.keywords
  else
    for name, text in pairs(said) do meta[html[name]] = text end
  end
end

function Pandoc(document)
  local meta = document.meta
  folders = { '' }
  for _, folder in ipairs(meta['platen-folders'] or {}) do folders[#folders + 1] = pandoc.utils.stringify(folder) end
  meta['platen-folders'] = nil
  local safe = {
    RawBlock = raw, RawInline = raw, Image = image, Link = link,
    Header = only_kept, Div = only_kept, Span = only_kept, Code = only_kept, CodeBlock = only_kept,
    Figure = only_kept, Table = only_kept,
  }
  -- Title, author and the like are in no block, but in the metadata.
  for name, value in pairs(meta) do
    local kind = pandoc.utils.type(value)
    if kind == 'Inlines' or kind == 'Blocks' then meta[name] = value:walk(safe) end
    if kind == 'List' then
      meta[name] = value:map(function(item)
        local inner = pandoc.utils.type(item)
        return (inner == 'Inlines' or inner == 'Blocks') and item:walk(safe) or item
      end)
    end
  end
  describe(meta)
  document.meta = meta
  return document:walk(safe)
end
