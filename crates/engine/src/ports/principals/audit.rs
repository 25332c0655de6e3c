//! The audit record: who did what with which credential. Rows are only ever added, and never hold a
//! credential.

use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::TokenId;

macro_rules! deeds {
    ($($name:ident = $word:literal $meaning:literal;)*) => {
        /// What kind of deed is recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditAction {
            $(#[doc = $meaning] $name,)*
        }

        impl AuditAction {
            /// Every kind, in the order in which they stand here.
            pub const ALL: &'static [AuditAction] = &[$(AuditAction::$name,)*];

            /// Its word in the store and on the wire, which never changes.
            pub const fn word(self) -> &'static str {
                match self { $(AuditAction::$name => $word,)* }
            }
        }
    };
}

deeds! {
    SignedIn = "signed_in" "A browser signed in.";
    SignedOut = "signed_out" "A browser signed out.";
    TokenCreated = "token_created" "A token was made.";
    TokenRevoked = "token_revoked" "A token was revoked.";
    Invited = "invited" "An invitation was made.";
    Accepted = "accepted" "An invitation was turned into a token.";
    BudgetRaised = "budget_raised" "A budget that is not one conversation's was raised.";
    Denied = "denied" "A request was refused for want of a credential or of what it allows.";
}

impl AuditAction {
    /// The kind that has this word; nothing where none has.
    pub fn parse(word: &str) -> Option<AuditAction> {
        Self::ALL.iter().copied().find(|deed| deed.word() == word)
    }
}

/// Something to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it was done.
    pub at: Timestamp,
    /// What kind of deed it was.
    pub deed: AuditAction,
    /// Who, where that is proven.
    pub by: Option<ParticipantId>,
    /// The credential by which it was done, where there was one.
    pub token: Option<TokenId>,
    /// The credential that it is about, where that is another one.
    pub about: Option<TokenId>,
    /// In a few words: the method and route of a refused request, the holder of a token, the budget
    /// and by how much.
    pub detail: String,
}

/// Something that was recorded, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Its place; rises by one with each.
    pub number: u64,
    /// What was recorded there.
    pub entry: AuditEntry,
}
