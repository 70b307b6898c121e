-- What scripts beyond Latin need: fonts, lines that run from right to left, and line breaks between signs that no space
-- divides.

local GLYPH, GLUE, DIR = node.id("glyph"), node.id("glue"), node.id("dir")
local HLIST, LOCAL_PAR = node.id("hlist"), node.id("local_par")

-- ----- Fonts -----

-- First and last letter, Noto's font, and the script's tag, without which HarfBuzz joins no letters.
local FONTS = {
  { 0x0080, 0x02FF, "Serif" }, { 0x1E00, 0x1EFF, "Serif" }, { 0x2000, 0x20CF, "Serif" },
  { 0x0370, 0x03FF, "Serif" }, { 0x0400, 0x052F, "Serif" }, { 0x1F00, 0x1FFF, "Serif" },
  { 0x0530, 0x058F, "Serif Armenian:armn" }, { 0x0590, 0x05FF, "Serif Hebrew:hebr" },
  { 0xFB1D, 0xFB4F, "Serif Hebrew:hebr" }, { 0x0600, 0x077F, "Naskh Arabic:arab" },
  { 0x08A0, 0x08FF, "Naskh Arabic:arab" }, { 0xFB50, 0xFDFF, "Naskh Arabic:arab" },
  { 0xFE70, 0xFEFC, "Naskh Arabic:arab" }, { 0x0900, 0x097F, "Serif Devanagari:deva" },
  { 0x0980, 0x09FF, "Serif Bengali:beng" }, { 0x0A00, 0x0A7F, "Serif Gurmukhi:guru" },
  { 0x0A80, 0x0AFF, "Serif Gujarati:gujr" }, { 0x0B80, 0x0BFF, "Serif Tamil:taml" },
  { 0x0C00, 0x0C7F, "Serif Telugu:telu" }, { 0x0C80, 0x0CFF, "Serif Kannada:knda" },
  { 0x0D00, 0x0D7F, "Serif Malayalam:mlym" }, { 0x0D80, 0x0DFF, "Serif Sinhala:sinh" },
  { 0x0E00, 0x0E7F, "Serif Thai:thai" }, { 0x0E80, 0x0EFF, "Serif Lao:lao" }, { 0x0F00, 0x0FFF, "Serif Tibetan:tibt" },
  { 0x1000, 0x109F, "Serif Myanmar:mymr" }, { 0x10A0, 0x10FF, "Serif Georgian:geor" },
  { 0x1200, 0x139F, "Serif Ethiopic:ethi" }, { 0x1780, 0x17FF, "Serif Khmer:khmr" },
}
-- Each East Asian font has all signs of these, in the forms of one country.
local EASTERN = { { 0xAC00, 0xD7AF, "KR" }, { 0x1100, 0x11FF, "KR" }, { 0x3040, 0x30FF, "JP" }, { 0x2E80, 0x9FFF, "SC" },
  { 0xF900, 0xFAFF, "SC" }, { 0xFF00, 0xFFEF, "SC" }, { 0x20000, 0x3134F, "SC" } }

local function within(ranges, letter)
  for _, range in ipairs(ranges) do
    if letter >= range[1] and letter <= range[2] then return range[3] end
  end
end

-- Syllables of Korean, U+AC00 to U+D7A3, in UTF-8.
local function has_hangul(text)
  return text:find("\xEA[\xB0-\xBF][\x80-\xBF]") or text:find("[\xEB\xEC][\x80-\xBF][\x80-\xBF]")
    or text:find("\xED[\x80-\x9E][\x80-\xBF]")
end

-- The country whose forms are used: Japan where there are Japanese syllables, Korea where there are Korean ones. All files of
-- the document are searched, for the first sign that is typeset does not tell which follow.
local function country_of(folder, depth)
  local found
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    local kind = lfs.attributes(path, "mode")
    local country
    if kind == "directory" and depth > 0 and not name:find("^%.") then
      country = country_of(path, depth - 1)
    elseif kind == "file" and name:find("%.tex$") then
      local file = io.open(path)
      local text = file and file:read("a") or ""
      if file then file:close() end
      country = text:find("\xE3[\x81-\x83][\x80-\xBF]") and "JP" or has_hangul(text) and "KR"
    end
    if country == "JP" then return country end
    found = found or country
  end
  return found
end

local country
-- The fonts to try for a letter, each with its script.
local function fonts_for(letter)
  local names = {}
  local family, script = (within(FONTS, letter) or ""):match("([^:]+):?(.*)")
  if family then table.insert(names, { "Noto " .. family, script }) end
  if within(EASTERN, letter) then
    country = country or country_of(".", 4) or "SC"
    table.insert(names, { "Noto Serif CJK " .. country, "" })
    table.insert(names, { "Noto Sans CJK " .. country, "" })
  end
  table.insert(names, { "DejaVu Sans", "" })
  table.insert(names, { "Noto Color Emoji", "" })
  return names
end

-- Fonts by name, weight and size; false where one is not installed.
local made = {}
local function font_of(name, script, weight, size)
  local asked = name .. weight .. "@" .. size
  if made[asked] == nil then
    made[asked] = false
    if luaotfload.aux.resolve_fontname(name) then
      local features = ":mode=harf;" .. (script ~= "" and "script=" .. script .. ";" or "")
      local read = luaotfload.define_font(name .. weight .. features, size)
      made[asked] = type(read) == "table" and font.define(read) or read or false
      if type(read) == "table" then fonts.definers.register(read, made[asked]) end
    end
  end
  return made[asked]
end

-- By font and letter, the other font that has the letter; false for none.
local others = {}
local function other_font(id, letter)
  local known = others[id]
  if not known then
    known = {}
    others[id] = known
  end
  if known[letter] == nil then
    known[letter] = false
    local own = font.getfont(id)
    if own and own.characters and not own.characters[letter] then
      local face = tostring(own.psname or own.name):lower()
      local bold, italic = face:find("bold") and "B" or "", face:find("italic") and "I" or ""
      for _, wanted in ipairs(fonts_for(letter)) do
        local name = wanted[1]
        local weight = "/" .. (name:find("Emoji") and "" or bold) .. (name == "Noto Serif" and italic or "")
        local other = font_of(name, wanted[2], weight == "/" and "" or weight, own.size)
        if other and font.getfont(other).characters[letter] then
          known[letter] = other
          break
        end
      end
    end
  end
  return known[letter]
end

-- Signs that belong to the one before them: accents, joiners, variation selectors, skin tones.
local JOINED = { { 0x0300, 0x036F, true }, { 0x200C, 0x200D, true }, { 0x20D0, 0x20FF, true }, { 0xFE00, 0xFE0F, true },
  { 0x1F3FB, 0x1F3FF, true } }

-- Sets each letter that its font lacks in a font that has it. Fonts are loaded only when a letter needs one, and in its
-- size: one with all Chinese signs takes a second.
local function with_fonts(head)
  local before
  for glyph in node.traverse_id(GLYPH, head) do
    if glyph.char >= 0x80 then
      local other = before and within(JOINED, glyph.char) and before or other_font(glyph.font, glyph.char)
      if other then glyph.font = other end
      before = other or nil
    else
      before = nil
    end
  end
  return head
end

-- ----- Readers of the PDF -----

-- Some glyphs of Chinese and Arabic stand for two letters. The PDF maps them to the ordinary one, so that text is found.
local DOUBLED = { { 0x2E80, 0x2FDF, true }, { 0xF900, 0xFAFF, true }, { 0xFB1D, 0xFDFF, true }, { 0xFE70, 0xFEFC, true } }

local function tell_plain()
  for _, font in font.each() do
    local shared = font.hb and font.hb.shared
    for letter, glyph in pairs(shared and shared.unicodes or {}) do
      local named = shared.nominals[glyph]
      if named and within(DOUBLED, named) and not within(DOUBLED, letter) then shared.nominals[glyph] = letter end
    end
  end
end

-- ----- Directions -----

-- Babel's rules of direction, which need nothing else of it; they read the direction around a node from an attribute. nil
-- where the author uses Babel for this.
local function bidi()
  if Babel and Babel.attr_dir then return nil end
  -- Older versions of the file make it themselves.
  Babel = Babel or {}
  require("babel-bidi-basic.lua")
  Babel.attr_dir = luatexbase.new_attribute("platen@dir")
  return Babel
end

local RIGHT = { r = true, al = true }

local function class_of(rules, letter)
  local known = rules.characters[letter]
  if known and known.d and known.d ~= "nsm" then return known.d end
  for _, range in ipairs(rules.ranges) do
    if letter < range[1] then break end
    if letter <= range[2] then return range[3] end
  end
  return "l"
end

-- Whether any letter runs from right to left, and whether the first letter with a direction does.
local function directions(rules, head)
  local has, first = false, nil
  for glyph in node.traverse_id(GLYPH, head) do
    local class = class_of(rules, glyph.char)
    if RIGHT[class] then
      if first == nil then first = true end
      return true, first
    elseif class == "l" and first == nil then
      first = false
    end
  end
  return has, false
end

-- Both brackets of a pair get one direction (rule N0 of Unicode's algorithm, UAX 9, which Babel leaves out): the paragraph's
-- where a letter inside has it; else that of the letters inside if the letter before the pair has it too.
local PAIRS = { [0x28] = 0x29, [0x5B] = 0x5D, [0x7B] = 0x7D }
local MARKS = { l = 0x200E, r = 0x200F }

local function bracketed(rules, head, base)
  local open, forced, last = {}, {}, base
  for glyph in node.traverse_id(GLYPH, head) do
    local class = class_of(rules, glyph.char)
    local way = class == "l" and "l" or RIGHT[class] and "r" or nil
    if way then
      last = way
      for _, pair in ipairs(open) do pair[way] = true end
    elseif PAIRS[glyph.char] then
      table.insert(open, { glyph = glyph, before = last })
    elseif #open > 0 and PAIRS[open[#open].glyph.char] == glyph.char then
      local pair = table.remove(open)
      local other = base == "l" and "r" or "l"
      local way = pair[base] and base or pair[other] and (pair.before == other and other or base)
      if way then
        table.insert(forced, { pair.glyph, way })
        table.insert(forced, { glyph, way })
      end
    end
  end
  local marks = {}
  for _, one in ipairs(forced) do
    for _, insert in ipairs({ node.insert_before, node.insert_after }) do
      local mark = node.copy(one[1])
      mark.char = MARKS[one[2]]
      head = insert(head, one[1], mark)
      table.insert(marks, mark)
    end
  end
  return head, marks
end

local function ordered(rules, head, is_right)
  local marks
  local value = is_right and 1 or 0
  head, marks = bracketed(rules, head, is_right and "r" or "l")
  for item in node.traverse(head) do node.set_attribute(item, rules.attr_dir, value) end
  head = rules.bidi(head, false, is_right and "TRT" or "TLT")
  for _, mark in ipairs(marks) do
    head = node.remove(head, mark)
    node.free(mark)
  end
  return head
end

local function direction(sign, way)
  local made = node.new(DIR)
  made.dir = sign .. way
  return made
end

local STOP = 0x2E

local function is_last_stop(item)
  return item.id == GLYPH and item.char == STOP and not (item.next and item.next.id == GLYPH)
end

-- In a paragraph from right to left the box in front (a number, the sign of a list) is at the right, with its gaps at its
-- left. Letters and digits in it keep their order; a box that itself runs from right to left (a described term) is unchanged.
local function turn(box)
  if box.dir == "TRT" or box.head and box.head.id == DIR then return end
  box.dir = "TRT"
  local item = box.head
  while item do
    local behind = item.next
    if item.id == HLIST then
      turn(item)
    elseif item.id ~= GLUE then
      box.head = node.insert_before(box.head, item, direction("+", "TLT"))
      while behind and behind.id ~= GLUE and behind.id ~= HLIST and not is_last_stop(behind) do
        item, behind = behind, behind.next
      end
      node.insert_after(box.head, item, direction("-", "TLT"))
    end
    item = behind
  end
end

local function directed_paragraph(rules)
  return function(head)
    local has, is_right = directions(rules, head)
    -- Margins are mirrored with the paragraph.
    tex.shapemode = is_right and 3 or 0
    if not has then return head end
    if is_right and head.id == LOCAL_PAR then
      head.dir = "TRT"
      for item in node.traverse(head) do
        if item.id == GLYPH then break end
        if item.id == HLIST and item.head and not directions(rules, item.head) then turn(item) end
      end
    end
    return ordered(rules, head, is_right)
  end
end

local function directed_box(rules)
  return function(head, _, _, _, way)
    local has, is_right = directions(rules, head)
    if not has then return head end
    head = ordered(rules, head, is_right)
    if not is_right or way == "TRT" then return head end
    head = node.insert_before(head, head, direction("+", "TRT"))
    return (node.insert_after(head, node.tail(head), direction("-", "TRT")))
  end
end

-- ----- Ends of lines -----

local SIGNS = { { 0x2E80, 0x30FF, true }, { 0x3100, 0x312F, true }, { 0x31A0, 0x9FFF, true }, { 0xF900, 0xFAFF, true },
  { 0xFE30, 0xFE4F, true }, { 0xFF00, 0xFF60, true }, { 0x20000, 0x3134F, true } }
local function set(letters)
  local made = {}
  for _, letter in utf8.codes(letters) do made[letter] = true end
  return made
end
local NO_BEGIN = set("、。，．・：；？！）］｝」』】〉》〕”’…‥ー々〻ゝゞヽヾぁぃぅぇぉっゃゅょゎ"
  .. "ァィゥェォッャュョヮヵヶ,.:;?!)]}")
local NO_END = set("（［｛「『【〈《〔“‘([{")
-- How far each gap may stretch, in quads, so that a line that is a little too short is filled.
local STRETCH = 0.05

local function may_end(one, other)
  local is_either = within(SIGNS, one) or within(SIGNS, other)
  return is_either and not NO_END[one] and not NO_BEGIN[other]
end

local function with_ends(head)
  local before
  for item in node.traverse(head) do
    if item.id == GLYPH then
      if before and may_end(before.char, item.char) then
        local gap = node.new(GLUE)
        gap.stretch = STRETCH * ((font.getparameters(item.font) or {}).quad or 65536)
        head = node.insert_before(head, item, gap)
      end
      before = item
    else
      before = nil
    end
  end
  return head
end

-- ----- All of it -----

local function add(callback, way, name, before)
  luatexbase.add_to_callback(callback, way, name)
  luatexbase.declare_callback_rule(callback, name, "before", before)
end

add("finish_pdffile", tell_plain, "platen", "luaotfload.harf.finalize_unicode")
-- These run before the letters are shaped into glyphs.
local shaped = "luaotfload.node_processor"
for _, callback in ipairs({ "pre_linebreak_filter", "hpack_filter" }) do add(callback, with_fonts, "platen.fonts", shaped) end
add("pre_linebreak_filter", with_ends, "platen.ends", shaped)
local rules = bidi()
if rules then
  add("pre_linebreak_filter", directed_paragraph(rules), "platen.direction", shaped)
  add("hpack_filter", directed_box(rules), "platen.direction", shaped)
  -- A fault of LuaTeX: to reset \shapemode at the end of a paragraph it sets a register of dimensions to 0, LaTeX's \labelsep,
  -- and lists lose the gap behind their numbers. It does so only where \shapemode is not 0, so that is reset here.
  luatexbase.add_to_callback("post_linebreak_filter", function()
    tex.shapemode = 0
    return true
  end, "platen.direction")
end
