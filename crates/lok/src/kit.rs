//! The library: how it is started, and what can be done with a document.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libloading::{Library, Symbol};

use crate::child::{self, Bounds, Ended};
use crate::heap;
use crate::table::{DocumentClass, DocumentObject, Hook, KitClass, KitObject};
use crate::url;

/// How LibreOffice is to run: by polling us, and without a display.
const OPTIONS: [(&str, &str); 2] = [("SAL_LOK_OPTIONS", "unipoll"), ("SAL_USE_VCLPLUGIN", "svp")];
/// Where its settings come from: its own, those of extensions, ours. Hazard: with the layer `user`, which is missing here, a
/// thread writes what documents change in settings to the disk and holds their lock meanwhile; a child forked then has
/// that lock for ever, and stands still.
const LAYERS: &str = "xcsxcu:${BRAND_BASE_DIR}/share/registry res:${BRAND_BASE_DIR}/share/registry \
    bundledext:${${BRAND_BASE_DIR}/program/lounorc:BUNDLED_EXTENSIONS_USER}/registry/\
    com.sun.star.comp.deployment.configuration.PackageRegistryBackend/configmgr.ini xcsxcu:";
/// The one library that holds nearly all of it.
const LIBRARY: &str = "libmergedlo.so";
/// While LibreOffice asks again from within a call of ours, so long it waits between two questions.
const PAUSE: Duration = Duration::from_millis(1);

/// LibreOffice in this process. It stays on the thread that has started it.
pub struct Kit {
    object: NonNull<KitObject>,
    /// Neither sent nor shared: LibreOffice knows its main thread.
    stays: PhantomData<*mut ()>,
}

/// Where LibreOffice finds what it needs. All paths are absolute.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder of its programs and libraries.
    pub programs: &'a Path,
    /// What it keeps for itself.
    pub profile: &'a Path,
    /// Its settings: a folder with `data/*.xcu`. They come after LibreOffice's own, and nothing changes them.
    pub settings: &'a Path,
    /// Its temporary files.
    pub temporary: &'a Path,
}

/// Why LibreOffice was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It can be started once in a process, by its only thread.
    #[error("LibreOffice starts once in a process, and before there are further threads")]
    NotAlone,
    /// Its library cannot be loaded.
    #[error("LibreOffice's library cannot be loaded: {0}")]
    Library(#[from] libloading::Error),
    /// It does not start, or is older than what is used of it.
    #[error("LibreOffice does not start: {0}")]
    Refused(&'static str),
}

/// A document that LibreOffice has loaded. Dropping it closes it.
pub struct Document<'k> {
    object: NonNull<DocumentObject>,
    kit: &'k Kit,
    /// Whether LibreOffice was told that commands are meant for it.
    is_active: Cell<bool>,
}

impl Kit {
    /// Loads the library. A failure within it ends the process: it throws where nobody can catch.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(place: &Place<'_>) -> Result<Self, StartError> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        if STARTED.swap(true, Ordering::SeqCst) || !is_only_thread() {
            return Err(StartError::NotAlone);
        }
        let set = |name: &str, value: &OsStr| {
            // SAFETY: nobody else reads or writes the environment, for this is the only thread.
            unsafe { std::env::set_var(name, value) };
        };
        for (name, value) in OPTIONS {
            set(name, OsStr::new(value));
        }
        set("TMPDIR", place.temporary.as_os_str());
        let settings = url::of(place.settings);
        let layers = [LAYERS.as_bytes(), settings.as_bytes()].concat();
        set("CONFIGURATION_LAYERS", OsStr::from_bytes(&layers));
        // SAFETY: what loading it runs are LibreOffice's own initializers, which are made for this.
        let library = unsafe { Library::new(place.programs.join(LIBRARY)) }?;
        // Never unloaded: its threads run on until the process ends.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the type is that of `LibreOfficeKitInit.h`.
        let hook: Symbol<'_, Hook> = unsafe { library.get(b"libreofficekit_hook_2\0") }?;
        let programs = text(place.programs.as_os_str().as_bytes());
        let profile = url::of(place.profile);
        // SAFETY: both texts end with a nought and live until it returns.
        let object = unsafe { hook(programs.as_ptr(), profile.as_ptr()) };
        let object = NonNull::new(object).ok_or(StartError::Refused("it gives no reason"))?;
        let kit = Self { object, stays: PhantomData };
        // SAFETY: the table of an object that the hook has made is there as long as the library.
        let size = unsafe { (*kit.class()).size };
        if size < size_of::<KitClass>() {
            return Err(StartError::Refused("it is older than 6.3"));
        }
        Ok(kit)
    }

    /// Runs LibreOffice's loop on this thread, and `serve` when the loop first has nothing to do. The process ends when
    /// `serve` does, with the code that it answers: LibreOffice is never taken down, which may hang or crash.
    pub fn run<S: FnMut(&Self) -> u8>(self, serve: S) -> ! {
        let (object, class) = (self.object, self.class());
        // Hazard: with a null pointer in its place the callback is never called.
        let data = Box::into_raw(Box::new(Turn { kit: self, serve }));
        // SAFETY: the table was checked to hold this function.
        let run_loop = unsafe { (*class).run_loop };
        // SAFETY: the object lives as long as the process, and so does the data, which is never given back.
        unsafe { run_loop(object.as_ptr(), on_poll::<S>, on_wake, data.cast()) };
        child::leave(1)
    }

    /// Loads the document at `path`, an absolute one.
    ///
    /// # Errors
    /// What LibreOffice says of it.
    pub fn load(&self, path: &Path, options: &str) -> Result<Document<'_>, String> {
        let (address, options) = (url::of(path), text(options.as_bytes()));
        // SAFETY: the table was checked to hold this function.
        let load = unsafe { (*self.class()).document_load_with_options };
        // SAFETY: the object lives as long as the process, both texts until it returns.
        let object = unsafe { load(self.object.as_ptr(), address.as_ptr(), options.as_ptr()) };
        let object = NonNull::new(object).ok_or_else(|| self.error())?;
        Ok(Document { object, kit: self, is_active: Cell::new(false) })
    }

    /// Says that everything is loaded that children shall have: from now on documents are worked on in children only.
    pub fn settle(&self) {
        heap::fill();
    }

    /// Has `work` done in a child of this process, within `bounds`, and waits for its end. The child has what this
    /// process has, and ends with the code that `work` answers.
    ///
    /// # Errors
    /// When the system makes no process, or cannot wait for it.
    pub fn in_child(
        &self,
        bounds: &Bounds,
        work: impl FnOnce(&Self) -> Result<(), u8>,
    ) -> std::io::Result<Ended> {
        child::run(bounds, || work(self))
    }

    /// What LibreOffice says of the last thing that it could not do.
    fn error(&self) -> String {
        let class = self.class();
        // SAFETY: the table was checked to hold this function.
        let get_error = unsafe { (*class).get_error };
        // SAFETY: the object lives as long as the process.
        let raw = unsafe { get_error(self.object.as_ptr()) };
        if raw.is_null() {
            return String::new();
        }
        // SAFETY: what is not null is a text that ends with a nought, and ours until it is freed.
        let sentence = unsafe { CStr::from_ptr(raw) }.to_string_lossy().trim().to_owned();
        // SAFETY: the table was checked to hold this function.
        let free_error = unsafe { (*class).free_error };
        // SAFETY: the text came from `get_error` and nobody reads it any more.
        unsafe { free_error(raw) };
        sentence
    }

    fn class(&self) -> *const KitClass {
        // SAFETY: the object came from the hook and is never destroyed.
        unsafe { self.object.as_ref() }.class
    }
}

impl Document<'_> {
    /// Writes it to `path`, an absolute one, in the format that LibreOffice knows by this name.
    ///
    /// # Errors
    /// What LibreOffice says of it.
    pub fn save_as(&self, path: &Path, format: &str, options: &str) -> Result<(), String> {
        let (address, format, options) = (url::of(path), text(format.as_bytes()), text(options.as_bytes()));
        // SAFETY: every version has this function in its table.
        let save_as = unsafe { (*self.class()).save_as };
        // SAFETY: the document is open until it is dropped, the texts live until the function returns.
        let saved =
            unsafe { save_as(self.object.as_ptr(), address.as_ptr(), format.as_ptr(), options.as_ptr()) };
        if saved == 0 { Err(self.kit.error()) } else { Ok(()) }
    }

    /// Has LibreOffice do what a menu would; `arguments` are JSON. Nothing is said of how it went.
    ///
    /// # Errors
    /// When this LibreOffice does not know how to, or the document has no view.
    pub fn command(&self, command: &str, arguments: &str) -> Result<(), String> {
        let class = self.class();
        // SAFETY: every version begins its table with its size.
        let size = unsafe { (*class).size };
        if size < size_of::<DocumentClass>() {
            return Err("it is too old to take commands".to_owned());
        }
        if !self.is_active.get() {
            self.activate()?;
            self.is_active.set(true);
        }
        let (command, arguments) = (text(command.as_bytes()), text(arguments.as_bytes()));
        // SAFETY: the table is long enough to hold this function.
        let post = unsafe { (*class).post_uno_command };
        // SAFETY: the document is open until it is dropped, the texts live until the function returns.
        unsafe { post(self.object.as_ptr(), command.as_ptr(), arguments.as_ptr(), false) };
        Ok(())
    }

    /// Hazard: a command goes to whatever is active on LibreOffice's desktop, and where nothing is, it is dropped without
    /// a word. Loading alone makes a document active only where a bar of progress was shown meanwhile, and a Word file
    /// gets none whose `docProps/app.xml` does not say how many paragraphs it has. Changing to a view makes it active,
    /// and a change it is only from another one.
    ///
    /// The table was found to be long enough.
    fn activate(&self) -> Result<(), String> {
        let class = self.class();
        // SAFETY: the caller has looked at the size of the table; so it is for the next two.
        let get_view = unsafe { (*class).get_view };
        // SAFETY: see above.
        let create_view = unsafe { (*class).create_view };
        // SAFETY: see above.
        let set_view = unsafe { (*class).set_view };
        // SAFETY: the document is open until it is dropped.
        let own = unsafe { get_view(self.object.as_ptr()) };
        // SAFETY: see above.
        let other = unsafe { create_view(self.object.as_ptr()) };
        if own < 0 || other < 0 {
            return Err("the document has no view".to_owned());
        }
        // SAFETY: see above; the view is the document's.
        unsafe { set_view(self.object.as_ptr(), own) };
        Ok(())
    }

    fn class(&self) -> *const DocumentClass {
        // SAFETY: the object came from a load and is destroyed only when this is dropped.
        unsafe { self.object.as_ref() }.class
    }
}

impl Drop for Document<'_> {
    fn drop(&mut self) {
        // SAFETY: every version has this function in its table.
        let destroy = unsafe { (*self.class()).destroy };
        // SAFETY: it is open, and nobody can use it any more.
        unsafe { destroy(self.object.as_ptr()) };
    }
}

/// What the loop is given.
struct Turn<S> {
    kit: Kit,
    serve: S,
}

/// Hazard: while it loads a sheet, LibreOffice runs its loop inside of the load, and asks again. Only the first question
/// is answered by serving.
unsafe extern "C" fn on_poll<S: FnMut(&Kit) -> u8>(data: *mut c_void, _timeout_us: c_int) -> c_int {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    if INSIDE.swap(true, Ordering::SeqCst) {
        std::thread::sleep(PAUSE);
        return 0;
    }
    // SAFETY: this is the pointer of `run`, of this very type; nobody else uses it, for further questions end above.
    let Some(turn) = (unsafe { data.cast::<Turn<S>>().as_mut() }) else { return 0 };
    child::leave((turn.serve)(&turn.kit))
}

unsafe extern "C" fn on_wake(_data: *mut c_void) {}

/// A text for C; one with a nought in it ends there.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(bytes.get(..end).unwrap_or_default()).unwrap_or_default()
}

fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// The texts that are handed over are what C takes for one.
const _: () = assert!(size_of::<c_char>() == 1);
