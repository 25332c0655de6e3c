//! Every way to a terminal or a program × every credential × every place, in both modes. The table
//! states the promises of the rules and does not look at routes.

mod others;
mod ways;
mod world;

use std::collections::BTreeSet;

use moothall_engine::access::{Mode, Scope};

use ways::{Need, Way};
use world::{CallerKind, Credential, Place, World};

/// True if the rules promise that this credential succeeds by this way.
fn promised(mode: Mode, credential: &Credential, way: Way, place: Place) -> bool {
    let Need { scope, drives, people, programs, proof } = way.need();
    let proven = credential.token.is_some();
    let local = mode == Mode::Local && !proven;
    // In local mode a client of the same user needs no credential for conversations. Everything
    // else needs one.
    let free = [Scope::PermissionsAnswer, Scope::ServerAdmin, Scope::SessionsDrive];
    if !(credential.has(scope) || local && !free.contains(&scope)) {
        return false;
    }
    if proof && !proven || !credential.reaches(place, way) {
        return false;
    }
    // An unproven client calls itself `user`, whose controls count.
    let is_person = credential.who == CallerKind::Person || local;
    if people && !is_person || way.is_of_programs_alone() && is_person && proven {
        return false;
    }
    let typed = drives || way.is_said() && place.is_for_drivers();
    if typed && !credential.has(Scope::SessionsDrive) {
        return false;
    }
    match credential.who {
        CallerKind::Nobody | CallerKind::Person => true,
        // A driving agent has not met any of the sessions.
        CallerKind::Agent => !typed && !programs,
        CallerKind::Session => way.is_open_to_sessions(),
    }
}

/// Plays one way with one credential. Returns a description if the outcome was not as promised.
async fn try_once(
    world: &World,
    way: Way,
    credential: &Credential,
    place: Place,
    expected: bool,
) -> Option<String> {
    let before = world.effects(way).await;
    let (status, code) = way.attempt(world, credential, place).await;
    let changed = world.effects(way).await != before;
    let refused = [401, 403].contains(&status)
        || ["thread_not_found", "session_not_found"].contains(&code.as_str());
    let fits = if expected { !refused } else { !changed && (refused || way.may_ask()) };
    (!fits).then(|| {
        format!(
            "{}: {way:?} at {place:?} as {}: {status} {code}, changed: {changed}, promised: {expected}",
            world.mode, credential.name
        )
    })
}

/// Plays one way with all credentials.
async fn play(mode: Mode, way: Way) -> Vec<String> {
    let mut world = World::set(mode).await;
    let mut wrong = Vec::new();
    // A refusal changes nothing, so refused attempts are played before successful ones.
    for expected in [false, true] {
        for row in 0..world.credentials.len() {
            for &place in way.places() {
                if promised(mode, &world.credentials[row], way, place) == expected {
                    let credential = &world.credentials[row];
                    wrong.extend(try_once(&world, way, credential, place, expected).await);
                    if expected && way.ends_something() {
                        world = World::set(mode).await;
                    }
                }
            }
        }
    }
    wrong
}

async fn play_all(mode: Mode) -> Vec<String> {
    let mut wrong = Vec::new();
    for &way in Way::ALL {
        wrong.extend(play(mode, way).await);
    }
    wrong
}

#[tokio::test]
async fn a_terminal_is_reached_by_those_who_may_in_token_mode_whichever_way() {
    let wrong = play_all(Mode::Token).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_terminal_is_reached_by_those_who_may_in_local_mode_whichever_way() {
    let wrong = play_all(Mode::Local).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// [`ways::of_command`] and [`ways::of_control`] match every command and control to a way of the
/// table. A new one therefore does not compile without a way.
#[test]
fn every_way_that_a_command_has_is_played() {
    let played: BTreeSet<Way> = Way::ALL.iter().copied().collect();
    for way in ways::commanded() {
        assert!(played.contains(&way), "{way:?} is not in the table");
    }
}

#[cfg(feature = "planted-bugs")]
#[tokio::test]
async fn a_question_that_is_left_out_is_noticed() {
    use moothall_kernel::planted::{self, Bypass};
    use strum::VariantArray;

    for &bypass in Bypass::VARIANTS {
        planted::open(Some(bypass));
        let noticed = match bypass {
            Bypass::Typing => play(Mode::Token, Way::Say).await,
            Bypass::Granting => play(Mode::Token, Way::InviteSession).await,
            Bypass::Starting => play(Mode::Token, Way::GatherProgram).await,
            Bypass::Spending
            | Bypass::Seating
            | Bypass::Reading
            | Bypass::Naming
            | Bypass::Returning => others::play(Mode::Token).await,
        };
        planted::open(None);
        assert!(!noticed.is_empty(), "{bypass:?} was not noticed");
    }
}
