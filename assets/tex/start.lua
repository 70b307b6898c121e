-- Runs before TeX. Coloured signs (emoji) are written into temporary files on their way into the PDF, by code that keeps the
-- os.tmpname that it finds when it is loaded, before the document's first line. Only the job's folder can be written to.
local count = 0
os.tmpname = function() count = count + 1 return "texmf-var/sign-" .. count end
