-- Runs before TeX. Coloured signs (emoji) are written into temporary files on their way into the PDF, by code that keeps the
-- os.tmpname that it finds when it is loaded, before the document's first line. Only the job's folder can be written to.
local count = 0
os.tmpname = function() count = count + 1 return "texmf-var/sign-" .. count end

-- From LuaTeX 1.18 on (Debian 13) Lua opens nothing that openin_any=p refuses, absolute paths above all. luaotfload finds its tables
-- by such paths and ends without them. So this is asked no more, as in older versions: openin_any holds for TeX alone, and what
-- Lua reads is the cage's to say. What Lua writes is still checked.
if kpse.in_name_ok_silent_extended then
  kpse.in_name_ok_silent_extended = function() return true end
end
