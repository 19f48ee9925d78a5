//! The C functions: pointers to texts and numbers, checked, and back again.
//!
//! `include/runflat_policy.h` is their contract: who owns what, and each return code. What can panic is guarded, so that no
//! panic reaches the caller; what is not guarded reads or writes single words.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use crate::input::Launch;
use crate::roster::{Answer, Roster};

/// Version of the interface.
pub const ABI: c_int = 3;
/// See the header.
pub const SUBSTITUTED: c_int = 0;
/// See the header.
pub const SPARE_LOST: c_int = 1;
/// See the header.
pub const NO_SPARE_LEFT: c_int = 2;
/// See the header.
pub const ALREADY_DEAD: c_int = 3;
/// See the header.
pub const REVIVED: c_int = 0;
/// See the header.
pub const NOT_DEAD: c_int = 4;
/// See the header.
pub const WRONG_INPUT: c_int = -1;
/// See the header.
pub const INTERNAL_ERROR: c_int = -2;

/// `runflat_policy` of the header.
pub struct Handle {
    roster: Roster,
    /// Why the last change was not taken; empty if it was.
    message: CString,
    /// It has panicked, and may be anything.
    broken: bool,
}

/// A code, and why.
type Refusal = (c_int, String);

/// The version of this interface.
#[unsafe(no_mangle)]
pub extern "C" fn runflat_policy_abi() -> c_int {
    ABI
}

/// Puts ranks on places.
///
/// # Safety
/// Texts are NULL or NUL-terminated; `out` is NULL or may be written; `message` is NULL or has `message_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_open(
    shape: *const c_char,
    torus: c_int,
    allocation: *const c_char,
    policy: *const c_char,
    seed: u64,
    out: *mut *mut Handle,
    message: *mut c_char,
    message_size: usize,
) -> c_int {
    let open = || {
        if out.is_null() {
            return Err("there is nowhere to put the handle: `out` is NULL".to_owned());
        }
        // SAFETY: texts are NULL or NUL-terminated, by contract.
        let [shape, allocation, policy] = unsafe {
            [text("shape", shape)?, text("allocation", allocation)?, text("policy", policy)?]
        };
        let launch = Launch::read(shape, torus != 0, allocation, policy, seed);
        launch.and_then(Roster::new).map_err(|error| error.to_string())
    };
    let opened = guarded(open).and_then(|read| read.map_err(|reason| (WRONG_INPUT, reason)));
    let (code, handle, reason) = match opened {
        Ok(roster) => {
            let handle = Handle { roster, message: CString::default(), broken: false };
            (0, Box::into_raw(Box::new(handle)), String::new())
        }
        Err((code, reason)) => (code, ptr::null_mut(), reason),
    };
    // SAFETY: `out` is NULL or may be written, `message` is NULL or has so many bytes, by contract.
    unsafe {
        if !out.is_null() {
            out.write(handle);
        }
        write_message(&reason, message, message_size);
    }
    code
}

/// Says where places stand.
///
/// # Safety
/// `policy` is NULL or an open handle that no other thread uses; `path` is NULL or has `levels` entries for each place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_stand(
    policy: *mut Handle,
    levels: u32,
    path: *const u64,
) -> c_int {
    // SAFETY: NULL or an open handle of this thread, by contract.
    let Some(handle) = (unsafe { policy.as_mut() }) else { return WRONG_INPUT };
    handle.answer(|roster| {
        let count = roster.place_count() * levels as usize;
        let mut given = Vec::new();
        if !path.is_null() {
            // SAFETY: not NULL, so there are as many entries, by contract.
            given.extend_from_slice(unsafe { slice::from_raw_parts(path, count) });
        }
        roster.stand(levels as usize, given).map(|()| 0)
    })
}

/// Number of ranks.
///
/// # Safety
/// `policy` is NULL or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_rank_count(policy: *const Handle) -> u32 {
    // SAFETY: NULL or an open handle, by contract.
    unsafe { policy.as_ref() }.map_or(0, |handle| handle.roster.places().len() as u32)
}

/// Number of places.
///
/// # Safety
/// `policy` is NULL or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_place_count(policy: *const Handle) -> u32 {
    // SAFETY: NULL or an open handle, by contract.
    unsafe { policy.as_ref() }.map_or(0, |handle| handle.roster.place_count() as u32)
}

/// Number of places that are alive and have no rank.
///
/// # Safety
/// `policy` is NULL or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_spare_count(policy: *const Handle) -> u32 {
    // SAFETY: NULL or an open handle, by contract.
    unsafe { policy.as_ref() }.map_or(0, |handle| handle.roster.spare_count() as u32)
}

/// Who stands where.
///
/// # Safety
/// `policy` is NULL or an open handle; `place_of_rank` is NULL or has room for as many entries as there are ranks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_places(policy: *const Handle, place_of_rank: *mut u32) {
    // SAFETY: NULL or an open handle, by contract.
    let Some(handle) = (unsafe { policy.as_ref() }) else { return };
    let places = handle.roster.places();
    if !place_of_rank.is_null() {
        // SAFETY: it has room for as many entries, by contract, and is not ours.
        unsafe { ptr::copy_nonoverlapping(places.as_ptr(), place_of_rank, places.len()) };
    }
}

/// A place fails.
///
/// # Safety
/// `policy` is NULL or an open handle that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_fail(policy: *mut Handle, place: u32) -> c_int {
    // SAFETY: NULL or an open handle of this thread, by contract.
    let Some(handle) = (unsafe { policy.as_mut() }) else { return WRONG_INPUT };
    let answer = |answer| match answer {
        Answer::Substituted => SUBSTITUTED,
        Answer::SpareLost => SPARE_LOST,
        Answer::NoSpareLeft => NO_SPARE_LEFT,
        Answer::AlreadyDead => ALREADY_DEAD,
    };
    handle.answer(|roster| roster.fail(place).map(answer))
}

/// A place is alive again.
///
/// # Safety
/// `policy` is NULL or an open handle that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_revive(policy: *mut Handle, place: u32) -> c_int {
    // SAFETY: NULL or an open handle of this thread, by contract.
    let Some(handle) = (unsafe { policy.as_mut() }) else { return WRONG_INPUT };
    handle.answer(|roster| roster.revive(place).map(|was| if was { REVIVED } else { NOT_DEAD }))
}

impl Handle {
    /// What a change of the roster says as a code; the reason stays if it is none.
    fn answer<E: Display>(
        &mut self,
        change: impl FnOnce(&mut Roster) -> Result<c_int, E>,
    ) -> c_int {
        if self.broken {
            return INTERNAL_ERROR;
        }
        let roster = &mut self.roster;
        let changed = guarded(|| change(roster).map_err(|error| error.to_string()));
        let (code, reason) = match changed.and_then(|code| code.map_err(|why| (WRONG_INPUT, why))) {
            Ok(code) => (code, String::new()),
            Err(refusal) => refusal,
        };
        self.broken = code == INTERNAL_ERROR;
        self.message = CString::new(reason.replace('\0', " ")).unwrap_or_default();
        code
    }
}

/// Why the last change was not taken.
///
/// # Safety
/// `policy` is NULL or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_message(policy: *const Handle) -> *const c_char {
    // SAFETY: NULL or an open handle, by contract.
    let handle = unsafe { policy.as_ref() };
    handle.map_or(NO_HANDLE.as_ptr(), |handle| handle.message.as_ptr())
}

/// Frees a handle.
///
/// # Safety
/// `policy` is NULL or an open handle, which is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn runflat_policy_close(policy: *mut Handle) {
    if !policy.is_null() {
        // SAFETY: `runflat_policy_open` made it, and nobody uses it any more, by contract.
        let handle = unsafe { Box::from_raw(policy) };
        // Nobody is left to be told.
        drop(guarded(|| drop(handle)));
    }
}

const NO_HANDLE: &CStr = c"there is no policy: the handle is NULL";

/// A text given as a pointer.
///
/// # Safety
/// `given` is NULL or NUL-terminated, and lives as long as the text is used.
unsafe fn text<'t>(name: &str, given: *const c_char) -> Result<&'t str, String> {
    if given.is_null() {
        return Err(format!("there is no {name}: it is NULL"));
    }
    // SAFETY: not NULL, so NUL-terminated, by contract.
    let text = unsafe { CStr::from_ptr(given) };
    text.to_str().map_err(|_| format!("the {name} is no UTF-8 text: {}", text.to_string_lossy()))
}

/// Writes as many whole letters of a message as there is room for.
///
/// # Safety
/// `to` is NULL or has `size` bytes.
unsafe fn write_message(message: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    let mut fits = (0..=message.len().min(size - 1)).rev();
    let length = fits.find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    // SAFETY: the text and its end are at most `size` bytes, which are there, by contract, and not ours.
    unsafe {
        ptr::copy_nonoverlapping(message.as_ptr().cast(), to, length);
        to.add(length).write(0);
    }
}

/// Does something; a panic becomes an error.
fn guarded<T>(what: impl FnOnce() -> T) -> Result<T, Refusal> {
    catch_unwind(AssertUnwindSafe(what)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let said = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why");
        (INTERNAL_ERROR, format!("a fault of librunflat_policy, please report it: {said}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code_with_a_message() {
        let (code, message) = guarded(|| panic!("number {}", 3)).map(|(): ()| ()).unwrap_err();
        assert_eq!(code, INTERNAL_ERROR);
        assert!(message.ends_with("please report it: number 3"), "{message}");
        let (_, message) = guarded(|| std::panic::panic_any(3)).map(|(): ()| ()).unwrap_err();
        assert!(message.ends_with("it does not say why"), "{message}");
    }

    #[test]
    fn a_handle_that_has_panicked_answers_nothing_else() {
        let roster = crate::roster::tests::faulty();
        let mut handle = Handle { roster, message: CString::default(), broken: false };
        for _ in 0..2 {
            // SAFETY: an open handle, of this thread.
            let (code, message) = unsafe {
                let code = runflat_policy_fail(&mut handle, 0);
                (code, CStr::from_ptr(runflat_policy_message(&handle)).to_str().unwrap())
            };
            assert_eq!(code, INTERNAL_ERROR);
            assert!(message.ends_with("please report it: a fault made for a test"), "{message}");
        }
    }

    #[test]
    fn a_message_is_cut_between_letters() {
        let written = |size| {
            let mut buffer = [b'#'; 8];
            // SAFETY: at most the buffer's size is given.
            unsafe { write_message("äöü", buffer.as_mut_ptr().cast(), size) };
            buffer
        };
        assert_eq!(written(0), *b"########");
        assert_eq!(written(1), *b"\0#######");
        assert_eq!(&written(4)[..3], "ä\0".as_bytes());
        assert_eq!(&written(8)[..7], "äöü\0".as_bytes());
    }
}
