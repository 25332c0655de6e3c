//! The ids of participants on the wire: UUIDs, for every kind of participant.

use moothall_kernel::ids::ParticipantId;
use uuid::Uuid;

/// The namespace of ids derived from names.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d6f_6f74_6861_6c6c_8000_7061_7274_6963);

/// Returns a participant's id as a UUID. The id of a registered agent is a UUID. For any other
/// participant the UUID is derived from the id, always with the same result.
pub fn wire_id(participant: &ParticipantId) -> Uuid {
    let own = Uuid::try_parse(participant.as_str()).ok();
    let hyphenated = own.filter(|id| id.to_string() == participant.as_str());
    hyphenated.unwrap_or_else(|| made_of(participant.as_str()))
}

/// Returns a UUID derived from the namespace and a name. Version 8 permits any derivation.
fn made_of(name: &str) -> Uuid {
    let mut hash = blake3::Hasher::new();
    hash.update(NAMESPACE.as_bytes()).update(name.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_own_id_stays_and_others_get_one_that_stays_the_same() {
        let own = "0190a5f0-1111-7222-8333-444455556666";
        assert_eq!(wire_id(&own.into()).to_string(), own);
        let user = wire_id(&"user".into());
        assert_eq!(user, wire_id(&"user".into()));
        assert_ne!(user, wire_id(&"User".into()));
        assert_eq!(user.get_version_num(), 8);
        let other = own.to_uppercase();
        assert_ne!(wire_id(&other.as_str().into()).to_string(), own, "another name is not its id");
    }
}
