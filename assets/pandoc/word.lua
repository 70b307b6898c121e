-- Writes the Word document by pandoc's own writer, and mends two things that it cannot be asked for:
-- * Every entry of the metadata becomes a property of the file, so what our filters and templates tell each other, and the whole
--   abstract, would stand among the document's own properties. Title, author and their kin are in docProps/core.xml and stay.
-- * The columns of a matrix say how they are aligned before how many they are, which is not the order of the format
--   (ISO/IEC 29500-1, CT_MCPr): the file would not be valid.
-- It is a filter, not a writer: what a writer of Lua warns of (a formula that pandoc cannot read) does not get into the log. What
-- pandoc writes after it is an empty document that nobody reads.

local function mended(entry)
  if entry.path == 'docProps/custom.xml' then return (entry:contents():gsub('<property .-</property>', '')) end
  if entry.path:match('^word/%w+%.xml$') then
    return (entry:contents():gsub('(<m:mcJc [^>]*/>)(<m:count [^>]*/>)', '%2%1'))
  end
end

function Pandoc(document)
  local archive = pandoc.zip.Archive(pandoc.write(document, 'docx', PANDOC_WRITER_OPTIONS))
  for at, entry in ipairs(archive.entries) do
    local text = mended(entry)
    if text then archive.entries[at] = pandoc.zip.Entry(entry.path, text, entry.modtime) end
  end
  local file = assert(io.open('platen-own/word.docx', 'wb'))
  assert(file:write(archive:bytestring()))
  assert(file:close())
  return pandoc.Pandoc {}
end
