//! Ids of Codex, kept apart by type.

use std::fmt;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta] $name:ident;)*) => {
        $(
            #[$doc]
            #[derive(Clone, PartialEq, Eq, Hash)]
            pub(crate) struct $name(Arc<str>);

            impl $name {
                /// The id as Codex writes it.
                pub(crate) fn as_str(&self) -> &str {
                    &self.0
                }
            }

            impl From<&str> for $name {
                fn from(id: &str) -> Self {
                    Self(id.into())
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl std::borrow::Borrow<str> for $name {
                fn borrow(&self) -> &str {
                    &self.0
                }
            }
        )*
    };
}

id! {
    /// A thread of the child.
    ThreadId;
    /// A turn of a thread.
    TurnId;
}
