//! Invitations: lines that are read or refused with a reason, and answers that make one pair.

use super::*;

fn invitation() -> Invitation {
    let inviter = ComputerId::random(1).unwrap();
    let redis = "rediss://:s3cret@host:7000".parse().unwrap();
    Invitation::new(inviter, "server".parse().unwrap(), redis)
}

fn answer(invitation: &Invitation) -> InvitationAnswer {
    invitation.answer(ComputerId::random(8).unwrap(), "laptop".parse().unwrap())
}

fn key(key: &PairKey) -> String {
    key.clone().into()
}

#[test]
fn two_computers_come_to_share_a_key() {
    let (mut book, now) = (OpenInvitations::default(), Instant::now());
    let made = invitation();
    book.add(&made, now);
    let joined: Invitation = format!("  {}\n", made.line()).parse().unwrap();
    assert_eq!((joined.inviter, joined.name.as_str()), (made.inviter, "server"));
    assert_eq!(joined.redis.secret_url(), "rediss://:s3cret@host:7000");
    let line = answer(&joined).line();
    let pair = book.pair(&line.parse().unwrap(), now).unwrap();
    assert_eq!(pair.name.as_str(), "laptop");
    assert_eq!(pair.id.up(), 8);
    assert_eq!(key(&pair.key), key(&joined.key));
}

#[test]
fn lines_are_printable_and_only_the_invitation_is_a_secret() {
    let made = invitation();
    let (join, joined) = (made.line(), answer(&made).line());
    for line in [&join, &joined] {
        assert!(line.chars().all(|c| c.is_ascii_graphic()), "{line}");
    }
    let content = URL_SAFE_NO_PAD.decode(joined.strip_prefix(JOINED).unwrap()).unwrap();
    let content = String::from_utf8(content).unwrap();
    assert!(!content.contains(&key(&made.key)) && !content.contains("s3cret"));
    let shown = format!("{made:?}");
    assert!(!shown.contains(&key(&made.key)) && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn an_invitation_is_worth_one_use_for_ten_minutes() {
    let (mut book, now) = (OpenInvitations::default(), Instant::now());
    let (used, late) = (invitation(), invitation());
    book.add(&used, now);
    book.add(&late, now);
    let moment = Duration::from_millis(1);
    for _ in 0..2 {
        assert!(book.pair(&answer(&used), now + OPEN_FOR - moment).is_ok());
    }
    book.use_up(&answer(&used));
    assert_eq!(book.pair(&answer(&used), now).unwrap_err(), AnswerError::Used);
    assert_eq!(book.pair(&answer(&late), now + OPEN_FOR).unwrap_err(), AnswerError::Over);
    assert_eq!(book.pair(&answer(&invitation()), now).unwrap_err(), AnswerError::Unknown);
    book.add(&invitation(), now + REMEMBERED_FOR);
    assert_eq!(book.pair(&answer(&used), now).unwrap_err(), AnswerError::Unknown);
    assert_eq!(book.0.len(), 1);
}

#[test]
fn an_answer_of_another_is_refused_and_uses_nothing_up() {
    let (mut book, now) = (OpenInvitations::default(), Instant::now());
    let made = invitation();
    book.add(&made, now);
    let good = answer(&made);
    let stranger = Invitation { key: PairKey::random(), ..made.clone() };
    let mut altered = vec![answer(&stranger)];
    altered.push(InvitationAnswer { name: "server2".parse().unwrap(), ..good.clone() });
    altered.push(InvitationAnswer { joiner: ComputerId::random(8).unwrap(), ..good.clone() });
    altered.push(InvitationAnswer { tag: String::new(), ..good.clone() });
    for answer in altered {
        assert_eq!(book.pair(&answer, now).unwrap_err(), AnswerError::Altered);
    }
    let own = made.answer(made.inviter, "server".parse().unwrap());
    assert_eq!(book.pair(&own, now).unwrap_err(), AnswerError::OwnComputer);
    assert!(book.pair(&good, now).is_ok());
}

#[test]
fn an_answer_to_one_invitation_is_not_one_to_another() {
    let (mut book, now) = (OpenInvitations::default(), Instant::now());
    let (one, two) = (invitation(), invitation());
    book.add(&one, now);
    book.add(&two, now);
    let moved = InvitationAnswer { id: two.id, ..answer(&one) };
    assert_eq!(book.pair(&moved, now).unwrap_err(), AnswerError::Altered);
}

#[test]
fn other_lines_are_refused_with_the_way_forward() {
    let made = invitation();
    let (join, joined) = (made.line(), answer(&made).line());
    let swapped = joined.parse::<Invitation>().unwrap_err();
    assert!(matches!(swapped, LineError::Swapped(_, JOIN)), "{swapped}");
    let swapped = join.parse::<InvitationAnswer>().unwrap_err();
    assert!(matches!(swapped, LineError::Swapped(_, JOINED)), "{swapped}");
    let newer = join.replacen("-1:", "-12:", 1);
    assert_eq!(newer.parse::<Invitation>().unwrap_err(), LineError::Newer);
    for other in ["", "hello", "moothall-join", "moothall-join-x:"] {
        assert_eq!(other.parse::<Invitation>().unwrap_err(), LineError::Other(JOIN), "{other}");
    }
    let broken = [
        join[..join.len() - 5].to_owned(),
        format!("{join}AAAA"),
        join.replacen(':', ": ", 1),
        format!("{JOIN}{}", URL_SAFE_NO_PAD.encode("{}")),
        format!("{JOIN}{}", "A".repeat(LINE_LEN_MAX + 1)),
    ];
    for line in broken {
        let error = line.parse::<Invitation>().unwrap_err();
        assert_eq!(error, LineError::Broken(JOIN), "{line}");
    }
}
