//! The attacks: a name, the programs that know the commands, and the code. `FOLDER` is a folder with mode 0777,
//! `PORT` a port that must not be reached. An attack that prints `GOT` has succeeded.

type Attack = (&'static str, &'static [&'static str], &'static str);

const ALL: &[&str] = &["pdflatex", "lualatex", "xelatex"];
const OLD: &[&str] = &["pdflatex", "xelatex"];
const PDF: &[&str] = &["pdflatex"];
const LUA: &[&str] = &["lualatex"];
const XE: &[&str] = &["xelatex"];

pub const ATTACKS: &[Attack] = &[
    ("run: write18", ALL, r"\immediate\write18{touch FOLDER/run}"),
    ("run: write18 at shipout", ALL, r"\write18{touch FOLDER/run}x\newpage x"),
    ("run: ShellEscape", ALL, r"\ShellEscape{touch FOLDER/run}"),
    ("run: pipe to input", ALL, r#"\input{|"touch FOLDER/run; echo GOT"}"#),
    ("run: primitive pipe", OLD, r#"\csname @@input\endcsname|"echo GOT" "#),
    ("run: pipe to openin", ALL, r#"\openin5="|echo GOT" \ifeof5 \else\read5 to\x\x\fi"#),
    (
        "run: pipe to openout",
        ALL,
        r#"\immediate\openout5="|touch FOLDER/run"\immediate\write5{x}\immediate\closeout5"#,
    ),
    ("run: restricted command", ALL, r#"\input{|"kpsewhich article.cls"}"#),
    ("run: lua execute", LUA, r#"\directlua{os.execute("touch FOLDER/run")}"#),
    (
        "run: lua popen",
        LUA,
        r#"\directlua{local pipe = io.popen("echo GOT") if pipe then tex.print(pipe:read("*a")) end}"#,
    ),
    ("run: lua exec", LUA, r#"\directlua{if os.exec then os.exec({"/bin/touch", "FOLDER/run"}) end}"#),
    ("run: lua spawn", LUA, r#"\directlua{if os.spawn then os.spawn({"/bin/touch", "FOLDER/run"}) end}"#),
    (
        "run: lua loadlib",
        LUA,
        r#"\directlua{local f = package.loadlib and package.loadlib("libc.so.6", "system") if f then tex.print("GOT") end}"#,
    ),
    (
        "run: lua ffi",
        LUA,
        r#"\directlua{local ok, ffi = pcall(require, "ffi") if ok then ffi.cdef("int system(const char *command);") if ffi.C.system("touch FOLDER/run") == 0 then tex.print("GOT") end end}"#,
    ),
    (
        "run: written program",
        LUA,
        r#"\directlua{local file = io.open("run.sh", "w") file:write("\string#!/bin/sh\string\n touch FOLDER/run") file:close() lfs.chmod = nil os.execute("sh ./run.sh")}"#,
    ),
    ("run: bitmap font", PDF, r"\font\x=ecrm1728 scaled 1234 \x a"),
    ("run: postscript", XE, r"\special{ps: (FOLDER/run) (w) file closefile}"),
    (
        "run: dvipdfmx distiller",
        XE,
        r#"\special{dvipdfmx:config D "touch FOLDER/run"}\special{psfile=FOLDER/secret.tex}"#,
    ),
    ("read: input", ALL, r"\input{/etc/passwd}"),
    ("read: input of ours", ALL, r"\input{FOLDER/secret}"),
    (
        "read: input, line by line",
        ALL,
        r"\openin5=/etc/passwd \ifeof5 \else\catcode`\_=12 \read5 to\x GOT \x\fi",
    ),
    ("read: going up", ALL, r"\openin5=../../../../../../../../etc/passwd \ifeof5 \else GOT\fi"),
    ("read: of home", ALL, r"\openin5=\string~/.profile \ifeof5 \else GOT\fi"),
    ("read: usepackage", ALL, r"\makeatletter\@@input FOLDER/secret.sty \secret"),
    ("read: catcodes", ALL, r"\catcode`\|=0 |catcode`|[=1 |catcode`|]=2 |input[FOLDER/secret]"),
    ("read: hexadecimal", ALL, r"^^5cinput{FOLDER/secret}"),
    ("read: by its name", ALL, r"\csname input\endcsname{FOLDER/secret}"),
    ("read: picture", ALL, r"\includegraphics{FOLDER/secret.pdf}"),
    (
        "read: file dump",
        PDF,
        r"\edef\x{\pdffiledump offset 0 length 10 {/etc/passwd}}\ifx\x\empty\else GOT\fi",
    ),
    ("read: file's size", PDF, r"\edef\x{\pdffilesize{FOLDER/secret.tex}}\ifx\x\empty\else GOT\fi"),
    ("read: stream of a file", PDF, r"\immediate\pdfobj stream file {/etc/passwd}\pdfrefobj\pdflastobj"),
    ("read: stream of a file by lua", LUA, r"\immediate\pdfextension obj stream file {/etc/passwd}"),
    (
        "read: file dump of xetex",
        XE,
        r"\edef\x{\filedump offset 0 length 10 {/etc/passwd}}\ifx\x\empty\else GOT\fi",
    ),
    (
        "read: stream by dvipdfmx",
        XE,
        r"\special{pdf:fstream @x (/etc/passwd)}\special{pdf:put @catalog <</X @x>>}",
    ),
    ("read: picture by dvipdfmx", XE, r"\special{pdf:image (FOLDER/secret.pdf)}"),
    ("read: picture of xetex", XE, "\\XeTeXpicfile \"FOLDER/secret.pdf\" "),
    ("read: font of ours", XE, "\\font\\x=\"[FOLDER/secret]\" \\x a"),
    (
        "read: lua",
        LUA,
        r#"\directlua{local file = io.open("/etc/passwd") if file then tex.print("GOT") end}"#,
    ),
    (
        "read: lua of ours",
        LUA,
        r#"\directlua{local file = io.open("FOLDER/secret.tex") if file then tex.print(file:read("*a")) end}"#,
    ),
    (
        "read: lua dofile",
        LUA,
        r#"\directlua{local _, why = pcall(dofile, "/etc/passwd") tex.print(-2, why or "")}"#,
    ),
    (
        "read: lua folders",
        LUA,
        r#"\directlua{for _, folder in ipairs{"..", "/tmp", "/root", "/home", "FOLDER", "/proc"} do local ok, list = pcall(lfs.dir, folder) if ok then tex.print("GOT") end end}"#,
    ),
    (
        "read: lua of processes",
        LUA,
        r#"\directlua{for _, name in ipairs{"/proc/self/environ", "/proc/1/cmdline", "/proc/self/maps", "/dev/mem"} do if io.open(name) then tex.print("GOT") end end}"#,
    ),
    (
        "read: lua link",
        LUA,
        r#"\directlua{lfs.link("FOLDER/secret.tex", "linked.tex", true) lfs.link("FOLDER/secret.tex", "hard.tex")}\openin5=linked \ifeof5 \else GOT\fi\openin6=hard \ifeof6 \else GOT\fi"#,
    ),
    (
        "output: a link in its place",
        LUA,
        r#"\directlua{luatexbase.add_to_callback("wrapup_run", function() os.remove("main.pdf") lfs.link("FOLDER/secret.tex", "main.pdf", true) end, "x")}"#,
    ),
    (
        "output: a log that is a link",
        LUA,
        r#"\directlua{os.remove("main.log") lfs.link("/etc/passwd", "main.log", true)}"#,
    ),
    ("write: openout", ALL, r"\immediate\openout5=FOLDER/written \immediate\write5{x}\immediate\closeout5"),
    (
        "write: openout over ours",
        ALL,
        r"\immediate\openout5=FOLDER/secret \immediate\write5{x}\immediate\closeout5",
    ),
    ("write: going up", ALL, r"\immediate\openout5=../written \immediate\write5{x}\immediate\closeout5"),
    (
        "write: to TeX",
        ALL,
        r"\immediate\openout5=/var/lib/texmf/written \immediate\write5{x}\immediate\closeout5",
    ),
    (
        "write: lua",
        LUA,
        r#"\directlua{for _, name in ipairs{"FOLDER/written", "/var/lib/texmf/written", "/tmp/platen-written", "../written", "../tenant"} do if io.open(name, "w") then tex.print("GOT") end end}"#,
    ),
    (
        "write: lua removes",
        LUA,
        r#"\directlua{os.remove("FOLDER/secret.tex") os.rename("FOLDER/secret.sty", "FOLDER/secret.txt")}"#,
    ),
    (
        "write: lua folder",
        LUA,
        r#"\directlua{if lfs.mkdir("FOLDER/made") or lfs.mkdir("../made") then tex.print("GOT") end}"#,
    ),
    (
        "net: lua socket",
        LUA,
        r#"\directlua{local ok, socket = pcall(require, "socket") if ok and socket.tcp then local it = socket.tcp() if it and it:connect("127.0.0.1", PORT) then tex.print("GOT") end end}"#,
    ),
    (
        "net: lua datagram",
        LUA,
        r#"\directlua{local ok, socket = pcall(require, "socket") if ok and socket.udp then local it = socket.udp() if it then it:sendto("x", "127.0.0.1", PORT) end end}"#,
    ),
    (
        "net: http",
        LUA,
        r#"\directlua{local ok, http = pcall(require, "socket.http") if ok then http.request("HTTP/x") end}"#,
    ),
];
