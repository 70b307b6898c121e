//! The tables of functions of `LibreOfficeKit.h`. Each begins with its own size; functions have only ever been added
//! behind the others (since 4.x; 7.4 and 25.2 were compared), so that whatever lies within the size is what it was.

use std::ffi::{c_char, c_int, c_void};

/// A function that is not called here.
type Unused = usize;

/// `_LibreOfficeKit`.
#[repr(C)]
pub struct KitObject {
    pub class: *const KitClass,
}

/// `_LibreOfficeKitClass`, as far as it is used.
#[repr(C)]
pub struct KitClass {
    pub size: usize,
    destroy: Unused,
    document_load: Unused,
    pub get_error: unsafe extern "C" fn(*mut KitObject) -> *mut c_char,
    pub document_load_with_options:
        unsafe extern "C" fn(*mut KitObject, *const c_char, *const c_char) -> *mut DocumentObject,
    pub free_error: unsafe extern "C" fn(*mut c_char),
    register_callback: Unused,
    get_filter_types: Unused,
    set_optional_features: Unused,
    set_document_password: Unused,
    get_version_info: Unused,
    run_macro: Unused,
    sign_document: Unused,
    pub run_loop: unsafe extern "C" fn(*mut KitObject, PollCallback, WakeCallback, *mut c_void),
}

/// Asked when LibreOffice has nothing to do; the number is how many microseconds it would wait.
pub type PollCallback = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// Told when another thread of LibreOffice has something to do.
pub type WakeCallback = unsafe extern "C" fn(*mut c_void);

/// `_LibreOfficeKitDocument`.
#[repr(C)]
pub struct DocumentObject {
    pub class: *const DocumentClass,
}

/// `_LibreOfficeKitDocumentClass`, as far as it is used.
#[repr(C)]
pub struct DocumentClass {
    pub size: usize,
    pub destroy: unsafe extern "C" fn(*mut DocumentObject),
    pub save_as:
        unsafe extern "C" fn(*mut DocumentObject, *const c_char, *const c_char, *const c_char) -> c_int,
    get_document_type: Unused,
    get_parts: Unused,
    get_part_page_rectangles: Unused,
    get_part: Unused,
    set_part: Unused,
    get_part_name: Unused,
    set_part_mode: Unused,
    paint_tile: Unused,
    get_tile_mode: Unused,
    get_document_size: Unused,
    initialize_for_rendering: Unused,
    register_callback: Unused,
    post_key_event: Unused,
    post_mouse_event: Unused,
    pub post_uno_command: unsafe extern "C" fn(*mut DocumentObject, *const c_char, *const c_char, bool),
    set_text_selection: Unused,
    get_text_selection: Unused,
    paste: Unused,
    set_graphic_selection: Unused,
    reset_selection: Unused,
    get_command_values: Unused,
    set_client_zoom: Unused,
    set_client_visible_area: Unused,
    pub create_view: unsafe extern "C" fn(*mut DocumentObject) -> c_int,
    destroy_view: Unused,
    pub set_view: unsafe extern "C" fn(*mut DocumentObject, c_int),
    pub get_view: unsafe extern "C" fn(*mut DocumentObject) -> c_int,
}

/// `libreofficekit_hook_2`: where the programs are, where the profile is.
pub type Hook = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut KitObject;
