//! Managed bots: a person taps a button, and Telegram makes the bot of an agent without a copied
//! token.
//!
//! A *manager* is a bot whose owner let it manage bots, in @BotFather. An operator offers an agent:
//! the manager sends the button to the operator's own accounts. A bot counts only if one of these
//! accounts made it while the offer was open. Offers are in memory, so a restart ends them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_engine::channels::ChannelError;
use moothall_engine::hall::HallError;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::{Millis, Timestamp};

use super::Telegram;
use super::bot::Bot;
use super::client::{BotToken, CallFault, NewBotButton, SendMessage};
use super::receive::account_of;
use super::room::{Room, TELEGRAM};
use super::update::ManagedBot;
use crate::kept_bots::KeptBots;
use crate::receive::{TryAgain, passing};

/// Time for which a button makes a bot of an agent.
const OFFER_VALID: Millis = Millis::from_secs(3600);
/// Most accounts that Telegram lets write to a managed bot beside its owner.
const ADDED_MAX: usize = 10;
/// Longest name of a bot, in characters, and longest username.
const NAMES_MAX: (usize, usize) = (64, 32);

/// The open offers, and the place for the tokens of the bots that are made.
pub(super) struct ManagedBots {
    pub(super) kept: KeptBots,
    /// The oldest first; at most one for each agent.
    offers: Mutex<Vec<BotOffer>>,
}

/// An offer to make the bot of an agent.
#[derive(Clone)]
struct BotOffer {
    request: i32,
    agent: String,
    person: ParticipantId,
    until: Timestamp,
    shown: Vec<ShownOffer>,
}

/// An account that has the button of an offer.
#[derive(Clone, Copy, PartialEq)]
struct ShownOffer {
    account: i64,
    /// The bot that sent the button.
    manager: i64,
}

impl ManagedBots {
    pub(super) fn new(kept: KeptBots) -> Self {
        Self { kept, offers: Mutex::default() }
    }

    fn offers(&self) -> MutexGuard<'_, Vec<BotOffer>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the offer of an agent. An earlier one of the same agent ends.
    fn open(&self, agent: &str, person: &ParticipantId, now: Timestamp) {
        let mut offers = self.offers();
        offers.retain(|offer| offer.agent != agent && offer.until > now);
        // Only the buttons of one message have to differ.
        let request = (RandomState::new().build_hasher().finish() >> 33) as i32;
        offers.push(BotOffer {
            request,
            agent: agent.to_owned(),
            person: person.clone(),
            until: now + OFFER_VALID,
            shown: Vec::new(),
        });
    }

    /// Ends the offer of an agent.
    fn close(&self, agent: &str) {
        self.offers().retain(|offer| offer.agent != agent);
    }

    /// Notes that an account has the button of an agent, or that it has not.
    fn note_shown(&self, agent: &str, shown: ShownOffer, is_shown: bool) {
        for offer in self.offers().iter_mut().filter(|offer| offer.agent == agent) {
            offer.shown.retain(|other| *other != shown);
            offer.shown.extend(is_shown.then_some(shown));
        }
    }

    /// Returns the open offers of an account by a manager, the oldest first.
    fn open_for(&self, shown: ShownOffer, now: Timestamp) -> Vec<BotOffer> {
        let is_open = |offer: &&BotOffer| offer.until > now && offer.shown.contains(&shown);
        self.offers().iter().filter(is_open).cloned().collect()
    }
}

/// Offers of bots.
impl Telegram {
    /// Sends the button that makes the bot of an agent to the accounts of a person. Returns the
    /// accounts that got it.
    ///
    /// # Errors
    /// [`ChannelError`] if the agent has a bot, no bot can manage others, the person has no paired
    /// account, or no account got the button.
    pub(super) async fn offer(
        &self,
        agent: &str,
        person: &ParticipantId,
    ) -> Result<Vec<String>, ChannelError> {
        if self.bots().iter().any(|bot| bot.agent == agent) {
            let text =
                format!("The agent {agent} has a bot already. `moothall channels` shows it.");
            return Err(ChannelError::Taken(text));
        }
        let managers = self.managers().await;
        let Some(first) = managers.first() else {
            let text = "No connected bot can manage bots. Let one do so in the Mini App of \
                        @BotFather, and make the offer again. Or give the agent a token: moothall \
                        channels add telegram AGENT";
            return Err(ChannelError::NoManager(text.to_owned()));
        };
        let accounts = self.paired_accounts(Some(person)).await;
        let accounts = accounts.map_err(|error| ChannelError::Unreachable(error.to_string()))?;
        if accounts.is_empty() {
            let text = "No account of Telegram is paired with you, so the button can go to none. \
                        Pair yours first: moothall channels pair telegram";
            return Err(ChannelError::NoAccount(text.to_owned()));
        }
        self.managed.open(agent, person, self.inbox.hall().now());
        let (mut sent_to, mut last_fault) = (Vec::new(), None);
        for account in accounts {
            match self.send_offer(&managers, account, agent).await {
                Ok(()) => sent_to.push(format!("{TELEGRAM}:{account}")),
                Err(fault) => last_fault = Some(fault),
            }
        }
        match last_fault.filter(|_| sent_to.is_empty()) {
            Some(fault) => Err(not_offered(first, &fault)),
            None => Ok(sent_to),
        }
    }

    /// Returns the bots that can manage others, in the order in which they were connected.
    async fn managers(&self) -> Vec<Arc<Bot>> {
        let able: Vec<_> = self.bots().into_iter().filter(|bot| bot.can_send()).collect();
        let manages = |bot: &&Arc<Bot>| bot.info().is_some_and(|info| info.can_manage_bots);
        if !able.iter().any(|bot| manages(&bot)) {
            // The owner may have let a bot do so since it was connected.
            for bot in &able {
                bot.client.get_me().await.into_iter().for_each(|info| bot.set_info(info));
            }
        }
        able.iter().filter(manages).cloned().collect()
    }

    /// Returns the ids of the paired accounts of a person, or of all people; the oldest first.
    async fn paired_accounts(&self, person: Option<&ParticipantId>) -> Result<Vec<i64>, HallError> {
        let tokens = self.inbox.access().accounts().await?.into_iter();
        let own = tokens.filter(|token| person.is_none_or(|id| token.principal.id == *id));
        let id_of = |account: &str| account.strip_prefix(TELEGRAM)?.strip_prefix(':')?.parse().ok();
        Ok(own.filter_map(|token| id_of(&token.label)).collect())
    }

    /// Sends the buttons of all open offers of an account, by the first manager that reaches it. A
    /// keyboard replaces the one before, so the earlier buttons come along.
    async fn send_offer(
        &self,
        managers: &[Arc<Bot>],
        account: i64,
        agent: &str,
    ) -> Result<(), CallFault> {
        let text = format!(
            "Tap the button below to make the bot of {agent}. Telegram asks for its name and gives \
             its token to this server. The button works for an hour."
        );
        let mut last_fault = CallFault::NotSent { why: "no bot can send".into() };
        for manager in managers {
            let shown = ShownOffer { account, manager: manager.id() };
            // The tap may come before the answer to the call.
            self.managed.note_shown(agent, shown, true);
            let Err(fault) = self.send_keyboard(manager, account, &text).await else {
                return Ok(());
            };
            if !matches!(fault, CallFault::Maybe { .. }) {
                self.managed.note_shown(agent, shown, false);
            }
            let is_gone = fault.is_gone();
            last_fault = fault;
            if !is_gone {
                break;
            }
        }
        Err(last_fault)
    }

    /// Sends a line with the buttons of the open offers of an account.
    async fn send_keyboard(&self, bot: &Bot, account: i64, text: &str) -> Result<(), CallFault> {
        if self.wait_for_slot(bot, &Room::new(account, None)).await.is_err() {
            let why = "Telegram takes no more messages in this chat for now".to_owned();
            return Err(CallFault::NotSent { why });
        }
        let shown = ShownOffer { account, manager: bot.id() };
        let open = self.managed.open_for(shown, self.inbox.hall().now());
        let manager = bot.username().unwrap_or_default();
        let buttons: Vec<_> = open.iter().map(|offer| button(offer, &manager)).collect();
        let message =
            SendMessage { chat_id: account, text: text.to_owned(), ..SendMessage::default() };
        let sent = bot.client.send_with_keyboard(&message, &buttons).await;
        if let Some(after) = sent.as_ref().err().and_then(CallFault::retry_after) {
            self.hold(bot, Some(account), after);
        }
        sent
    }
}

/// Bots that people make.
impl Telegram {
    /// Takes the news of a bot that a manager manages: a new one, or a new token of a known one.
    ///
    /// # Errors
    /// [`TryAgain`] if its token cannot be fetched or stored now.
    pub(super) async fn receive_managed(
        self: &Arc<Self>,
        manager: &Bot,
        made: ManagedBot,
    ) -> Result<(), TryAgain> {
        if let Some(known) = self.bots().into_iter().find(|bot| bot.id() == made.id) {
            return self.renew(manager, &known).await;
        }
        let account = account_of(&made.owner);
        let person = self.inbox.person(&account).await.map_err(passing)?;
        let person = person.and_then(|caller| Some(caller.principal()?.id.clone()));
        let shown = ShownOffer { account: made.owner.id, manager: manager.id() };
        let open = self.managed.open_for(shown, self.inbox.hall().now());
        // The update does not name the button. The name of the bot often does.
        let name = manager.username().unwrap_or_default();
        let is_named = |offer: &&BotOffer| {
            username_for(&offer.agent, &name)
                .is_some_and(|it| it.eq_ignore_ascii_case(&made.username))
        };
        let offer = open.iter().find(is_named).or(open.first());
        let Some(offer) = offer.filter(|offer| Some(&offer.person) == person.as_ref()) else {
            let (manager, made) = (&manager.agent, &made.username);
            tracing::warn!(manager, made, account, "a bot that no person asked for is ignored");
            return Ok(());
        };
        let line = self.adopt(manager, &offer.agent, &made).await?;
        self.managed.close(&offer.agent);
        if let Err(fault) = self.send_keyboard(manager, made.owner.id, &line).await {
            tracing::warn!(bot = manager.agent, %fault, "an answer could not be sent");
        }
        Ok(())
    }

    /// Stores and connects the bot that was made for an agent. Returns the line for the person:
    /// that it is connected, or the reason if it is not.
    async fn adopt(
        self: &Arc<Self>,
        manager: &Bot,
        agent: &str,
        made: &ManagedBot,
    ) -> Result<String, TryAgain> {
        let name = &made.username;
        if self.bots().iter().any(|bot| bot.agent == agent) {
            return Ok(format!("{agent} got another bot meanwhile. @{name} is not used."));
        }
        let token = match self.token_of(manager, made.id).await {
            Ok(token) => token,
            Err(fault) if is_final(&fault) => {
                return Ok(format!(
                    "@{name} is not connected: {fault} Make another offer, or give \
                                   its token to the server: moothall channels add telegram {agent}"
                ));
            }
            Err(fault) => return Err(TryAgain { why: fault.to_string(), is_known: false }),
        };
        self.keep(agent, token)?;
        let restricted = self.restrict(manager, made).await;
        Ok(format!(
            "@{name} is now the bot of {agent}. Open https://t.me/{name} and tap Start, or add it \
             to a group.{restricted}"
        ))
    }

    /// Lets only paired accounts write to a new bot. Returns a sentence for the person about that.
    async fn restrict(&self, manager: &Bot, made: &ManagedBot) -> &'static str {
        const OPEN: &str = " Telegram could not be told who may write to it, so others can find it; \
                            they get no answer from the agent.";
        let Ok(mut accounts) = self.paired_accounts(None).await else { return OPEN };
        accounts.retain(|account| *account != made.owner.id);
        accounts.dedup();
        let is_full = accounts.len() > ADDED_MAX;
        accounts.truncate(ADDED_MAX);
        match manager.client.restrict_managed_bot(made.id, &accounts).await {
            Ok(()) if is_full => {
                " Telegram lets only you and the 10 accounts write to it that were paired first."
            }
            Ok(()) => " Only you and the accounts that are paired now can write to it.",
            Err(fault) => {
                tracing::warn!(bot = made.username, %fault, "a bot could not be restricted");
                OPEN
            }
        }
    }

    /// Fetches the token of a bot that was added at run time. If Telegram has replaced the token,
    /// stores the new one and connects the bot again.
    async fn renew(self: &Arc<Self>, manager: &Bot, bot: &Bot) -> Result<(), TryAgain> {
        let Some(old) = self.managed.kept.all().remove(&bot.agent) else { return Ok(()) };
        match self.token_of(manager, bot.id()).await {
            Ok(token) if token.reveal() != old => self.keep(&bot.agent, token),
            Ok(_) => Ok(()),
            Err(fault) if is_final(&fault) => {
                tracing::warn!(bot = bot.agent, %fault, "a new token could not be fetched");
                Ok(())
            }
            Err(fault) => Err(TryAgain { why: fault.to_string(), is_known: false }),
        }
    }

    /// Returns the token of a managed bot, after Telegram has accepted it.
    async fn token_of(&self, manager: &Bot, id: i64) -> Result<BotToken, CallFault> {
        let token = manager.client.get_managed_bot_token(id).await?;
        self.client(token.clone()).get_me().await?;
        Ok(token)
    }

    fn keep(self: &Arc<Self>, agent: &str, token: BotToken) -> Result<(), TryAgain> {
        let kept = self.managed.kept.add(agent, &token.reveal());
        kept.map_err(|error| TryAgain { why: error.to_string(), is_known: false })?;
        self.connect(agent, token);
        Ok(())
    }
}

/// True if the same call would be refused again.
fn is_final(fault: &CallFault) -> bool {
    matches!(fault, CallFault::Refused { retry_after: None, code, .. } if *code < 500)
}

/// Returns the error of an offer that reached no account.
fn not_offered(manager: &Bot, fault: &CallFault) -> ChannelError {
    let name = manager.username().unwrap_or_default();
    if fault.is_gone() {
        ChannelError::NoAccount(format!(
            "No paired account of yours has a private chat with @{name}. Open https://t.me/{name}, \
             tap Start, and make the offer again."
        ))
    } else {
        ChannelError::Unreachable(format!("The button could not be sent: {fault}"))
    }
}

fn button(offer: &BotOffer, manager: &str) -> NewBotButton {
    NewBotButton {
        text: format!("Make the bot of {}", offer.agent),
        request: offer.request,
        name: offer.agent.chars().take(NAMES_MAX.0).collect(),
        username: username_for(&offer.agent, manager),
    }
}

/// Returns a username for the bot of an agent: the agent's name and the manager's username. The
/// manager's username is unique, so bots of two servers never get the same one. `None` if it would
/// be too long, would not begin with a letter, or would not end with `bot`.
fn username_for(agent: &str, manager: &str) -> Option<String> {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = format!("{agent}_{manager}").chars().map(letter).collect();
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_valid =
        begins && name.len() <= NAMES_MAX.1 && name.to_ascii_lowercase().ends_with("bot");
    is_valid.then_some(name)
}
