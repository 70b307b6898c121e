-- Before TeX: coloured signs are written into files on their way into the PDF, and what does so remembers this function when it
-- is loaded, ahead of the first line of the document. The job's folder is the only place that there is for them.
local count = 0
os.tmpname = function() count = count + 1 return "texmf-var/sign-" .. count end
