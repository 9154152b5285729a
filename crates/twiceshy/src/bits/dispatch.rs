//! One line a verb: a function for each set of instructions, and the choice between them.
//!
//! Code that wants fast bit instructions is written once, generic over [`Isa`](super::Isa). The macro
//! here compiles such a body for each set of instructions in a function of its own, and gives it a
//! name that compares a flag and calls the right one. All that the body calls is
//! `#[inline(always)]`, so that it is compiled with the same instructions (the way `memchr` does it).
//!
//! ```text
//! dispatch! {
//!     impl[S: Sidecar, M: Bytes] Table<S, M> {
//!         /// The run of a quotient.
//!         #[inline(always)]
//!         pub(crate) fn run(&self, quotient: u64) -> Run = run_on;
//!     }
//! }
//!
//! impl<S: Sidecar, M: Bytes> Table<S, M> {
//!     #[inline(always)]
//!     fn run_on<I: Isa>(&self, quotient: u64) -> Run { … }
//! }
//! ```
//!
//! The type has a method `cpu()`. Arguments are references and numbers, which travel in registers. A
//! rare second half of a verb is a verb as well, `#[cold]` and `#[inline(never)]`: it compares the flag
//! once more, which costs next to nothing, and costs the first half no registers.

use std::marker::PhantomData;

/// What functions compiled for 512-bit vectors are associated with.
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
pub struct OnAvx512<T: ?Sized>(PhantomData<T>);

/// What functions compiled for 256-bit vectors and `pdep` are associated with.
#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
pub struct OnAvx2<T: ?Sized>(PhantomData<T>);

/// What functions compiled without special instructions are associated with.
pub struct OnAny<T: ?Sized>(PhantomData<T>);

/// See the [module](self). All verbs of one use take `&self`, or all take `&mut self`. A verb with
/// types of its own names them as `fn verify[F: Each](…)`.
macro_rules! dispatch {
    (impl[$($of:tt)*] $type:ty {
        $($(#[$meta:meta])* $vis:vis fn $verb:ident $([$($own:ident: $bound:path),*])?
            (&self $(, $arg:ident: $arg_type:ty)* $(,)?) -> $output:ty = $body:ident;)*
    }) => {
        $crate::bits::dispatch! { @verbs [$($of)*] [$type] [&]
            $([$(#[$meta])*] [$vis] $verb [$($($own: $bound),*)?] [$($($own),*)?]
                [$($arg: $arg_type),*] [$output] $body;)*
        }
    };
    (impl[$($of:tt)*] $type:ty {
        $($(#[$meta:meta])* $vis:vis fn $verb:ident $([$($own:ident: $bound:path),*])?
            (&mut self $(, $arg:ident: $arg_type:ty)* $(,)?) -> $output:ty = $body:ident;)*
    }) => {
        $crate::bits::dispatch! { @verbs [$($of)*] [$type] [&mut]
            $([$(#[$meta])*] [$vis] $verb [$($($own: $bound),*)?] [$($($own),*)?]
                [$($arg: $arg_type),*] [$output] $body;)*
        }
    };
    (@verbs $of:tt $type:tt $by:tt $(
        $meta:tt $vis:tt $verb:ident $own:tt $owned:tt $args:tt $output:tt $body:ident;
    )*) => {
        $(
            $crate::bits::dispatch! {
                @choice $of $type $by $meta $vis $verb $own $owned $args $output
            }
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            $crate::bits::dispatch! {
                @body OnAvx512 Avx512 $of $type $by $verb $own $owned $args $output $body
                #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2,avx512f,avx512bw,avx512vl")]
                #[target_feature(enable = "avx512bitalg,avx512vpopcntdq,avx512vbmi2")]
            }
            #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
            $crate::bits::dispatch! {
                @body OnAvx2 Avx2 $of $type $by $verb $own $owned $args $output $body
                #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
            }
            $crate::bits::dispatch! {
                @body OnAny Portable $of $type $by $verb $own $owned $args $output $body
            }
        )*
    };
    // The verb itself.
    (@choice [$($of:tt)*] [$type:ty] [$($by:tt)*] [$($meta:tt)*] [$vis:vis] $verb:ident
        [$($own:tt)*] [$($owned:ident),*] [$($arg:ident: $arg_type:ty),*] [$output:ty]
    ) => {
        impl<$($of)*> $type {
            $($meta)*
            $vis fn $verb<$($own)*>($($by)* self, $($arg: $arg_type),*) -> $output {
                #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
                if self.cpu().has_avx512() {
                    // SAFETY: the flag is set only where every feature that the function enables was
                    // found.
                    #[allow(unsafe_code, reason = "the one use of the flag")]
                    return unsafe {
                        $crate::bits::OnAvx512::<$type>::$verb::<$($owned),*>(self, $($arg),*)
                    };
                }
                #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
                if self.cpu().has_avx2() {
                    // SAFETY: as above.
                    #[allow(unsafe_code, reason = "the one use of the flag")]
                    return unsafe {
                        $crate::bits::OnAvx2::<$type>::$verb::<$($owned),*>(self, $($arg),*)
                    };
                }
                #[cfg(any(not(target_arch = "x86_64"), twiceshy_portable))]
                let _nothing_to_choose = self.cpu();
                // SAFETY: it enables no feature.
                #[allow(unsafe_code, reason = "it looks like the others")]
                unsafe { $crate::bits::OnAny::<$type>::$verb::<$($owned),*>(self, $($arg),*) }
            }
        }
    };
    // Its body for one set of instructions: a function of its own, so that the choice is a test and a
    // jump, and none pays for the registers of another.
    (@body $on:ident $isa:ident [$($of:tt)*] [$type:ty] [$($by:tt)*] $verb:ident
        [$($own:tt)*] [$($owned:ident),*] [$($arg:ident: $arg_type:ty),*] [$output:ty] $body:ident
        $(#[$features:meta])*
    ) => {
        impl<$($of)*> $crate::bits::$on<$type> {
            $(#[$features])*
            #[inline(never)]
            #[allow(unsafe_code, reason = "called where the machine has the features")]
            unsafe fn $verb<$($own)*>(this: $($by)* $type, $($arg: $arg_type),*) -> $output {
                this.$body::<$crate::bits::$isa, $($owned),*>($($arg),*)
            }
        }
    };
}

pub(crate) use dispatch;
