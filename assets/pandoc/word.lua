-- Writes the Word document by pandoc's own writer, and mends three things for which that has no option:
-- * Every entry of the metadata becomes a custom property of the file, also the whole abstract and what our filters and templates
--   tell each other. All custom properties are removed; title, author and the like are in docProps/core.xml and stay.
-- * It writes the alignment of a matrix' columns before their number, against the order of the format (ISO/IEC 29500-1, CT_MCPr):
--   the file would not be valid.
-- * Title and author of the properties are those of the page. Others (safe.lua) are put into the written file: in the metadata
--   they would be printed, and for a title printed from elsewhere pandoc writes the sign of a footnote (\thanks) without the
--   footnote, which Word takes for a damaged file.
-- It is a filter, not a custom writer: warnings of that (a formula that pandoc cannot read) do not get into the log. pandoc then
-- writes an empty document, which is not used.

local properties = { { 'title', 'dc:title' }, { 'author', 'dc:creator' } }
local entities = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;' }

local function described(core, said)
  for _, property in ipairs(properties) do
    local name, tag = property[1], property[2]
    if said[name] then
      local text = pandoc.utils.stringify(said[name]):gsub('%c', ''):gsub('[&<>]', entities)
      local element = '<' .. tag .. '>' .. text .. '</' .. tag .. '>'
      core = core:gsub('<' .. tag .. '>.-</' .. tag .. '>', '')
      core = core:gsub('</cp:coreProperties>', function(close) return element .. close end)
    end
  end
  return core
end

local function mended(entry, said)
  if entry.path == 'docProps/core.xml' then return described(entry:contents(), said) end
  if entry.path == 'docProps/custom.xml' then return (entry:contents():gsub('<property .-</property>', '')) end
  if entry.path:match('^word/%w+%.xml$') then
    return (entry:contents():gsub('(<m:mcJc [^>]*/>)(<m:count [^>]*/>)', '%2%1'))
  end
end

function Pandoc(document)
  local said = document.meta['platen-core'] or {}
  document.meta['platen-core'] = nil
  local archive = pandoc.zip.Archive(pandoc.write(document, 'docx', PANDOC_WRITER_OPTIONS))
  for at, entry in ipairs(archive.entries) do
    local text = mended(entry, said)
    if text then archive.entries[at] = pandoc.zip.Entry(entry.path, text, entry.modtime) end
  end
  local file = assert(io.open('platen-own/word.docx', 'wb'))
  assert(file:write(archive:bytestring()))
  assert(file:close())
  return pandoc.Pandoc {}
end
