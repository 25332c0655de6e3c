//! Routes for channels: bots, chats, and accounts that are paired with people.

use axum::Json;
use axum::extract::{Path, State};
use moothall_engine::access::{Caller, NewPairing, RevocationScope, Scope, Scopes, Token, TokenId};

use super::App;
use super::tokens::scopes_of;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, Params, ThreadId, stream_id};
use crate::strict::Inbound;
use crate::wire::{
    BotEntry, BotOffered, BotRemoved, ChannelEntry, ChannelList, ChannelResumed, DeliveryEntry,
    DeliveryList, DeliveryResent, ErrorBody, NewBot, PairingCode, PairingEnded, PairingEntry,
    PairingLinkEntry, PairingList, PairingRequest,
};

/// Lists the channels to chats of other products, with their bots and chats.
#[utoipa::path(get, path = "/channels", operation_id = "list_channels", tag = "channels",
    responses((status = 200, body = ChannelList), (status = "4XX", body = ErrorBody)))]
pub async fn list(State(app): State<App>, params: Params) -> ApiResult<Json<ChannelList>> {
    let door = params.door(&app.entrance);
    let channels = door.channels().await?;
    Ok(Json(ChannelList {
        channels: channels.iter().map(ChannelEntry::from).collect(),
        currency: door.currency(),
    }))
}

/// Gives an agent a bot. The token is checked with the product, kept in the data folder, and never
/// shown again.
#[utoipa::path(post, path = "/channels/{channel}/bots", operation_id = "add_bot", tag = "channels", request_body = NewBot,
    params(("channel" = String, Path, description = "The channel, such as `telegram`.")),
    responses((status = 200, body = BotEntry), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn add(
    State(app): State<App>,
    Path(channel): Path<String>,
    body: Body,
) -> ApiResult<Json<BotEntry>> {
    let NewBot { agent, token } = body.read()?;
    let bot = body.door(&app.entrance).add_bot(&channel, &agent, token.trim()).await?;
    Ok(Json(BotEntry::from(&bot)))
}

/// Offers the caller's paired accounts to make a bot for an agent by a button, without a copied
/// token. The button works for an hour, and the bot is connected once it is made. This needs a
/// connected bot that may manage bots. It has not been tried on the real service yet.
#[utoipa::path(post, path = "/channels/{channel}/bots/{agent}/offer", operation_id = "offer_bot", tag = "channels",
    params(
        ("channel" = String, Path, description = "The channel, such as `telegram`."),
        ("agent" = String, Path, description = "The agent that is to speak by the bot."),
    ),
    responses((status = 200, body = BotOffered), (status = "4XX", body = ErrorBody), (status = "5XX", body = ErrorBody)))]
pub async fn offer(
    State(app): State<App>,
    Path((channel, agent)): Path<(String, String)>,
    body: Body,
) -> ApiResult<Json<BotOffered>> {
    let sent_to = body.door(&app.entrance).offer_bot(&channel, &agent).await?;
    Ok(Json(BotOffered { sent_to }))
}

/// Takes a bot from its agent. Bots of the configuration are removed there.
#[utoipa::path(delete, path = "/channels/{channel}/bots/{agent}", operation_id = "remove_bot", tag = "channels",
    params(
        ("channel" = String, Path, description = "The channel, such as `telegram`."),
        ("agent" = String, Path, description = "The agent whose bot is taken away."),
    ),
    responses((status = 200, body = BotRemoved), (status = "4XX", body = ErrorBody)))]
pub async fn remove(
    State(app): State<App>,
    Path((channel, agent)): Path<(String, String)>,
    params: Params,
) -> ApiResult<Json<BotRemoved>> {
    let removed = params.door(&app.entrance).remove_bot(&channel, &agent).await?;
    Ok(Json(BotRemoved { removed }))
}

/// Lets a channel run again that stopped because the log was restored or copied, and bots that
/// stopped because another program spoke as them.
#[utoipa::path(post, path = "/channels/{channel}/resume", operation_id = "resume_channel", tag = "channels",
    params(("channel" = String, Path, description = "The channel, such as `telegram`.")),
    responses((status = 200, body = ChannelResumed), (status = "4XX", body = ErrorBody)))]
pub async fn resume(
    State(app): State<App>,
    Path(channel): Path<String>,
    body: Body,
) -> ApiResult<Json<ChannelResumed>> {
    let resumed = body.door(&app.entrance).resume_channel(&channel).await?;
    Ok(Json(ChannelResumed { resumed }))
}

/// Makes a code that pairs one account of a channel with the caller. The account then acts as the
/// caller, with these scopes.
#[utoipa::path(post, path = "/channels/{channel}/pairings", operation_id = "offer_pairing", tag = "channels", request_body = Option<PairingRequest>,
    params(("channel" = String, Path, description = "The channel, such as `telegram`.")),
    responses((status = 200, body = PairingCode), (status = "4XX", body = ErrorBody)))]
pub async fn pair(
    State(app): State<App>,
    Path(channel): Path<String>,
    body: Body,
) -> ApiResult<Json<PairingCode>> {
    let PairingRequest { scopes } = body.read()?;
    let scopes = scopes.map_or(Ok(Scopes::NONE), |words| scopes_of(&words))?;
    let door = body.door(&app.entrance);
    // Checks first that the channel exists, so that no code is made for an unknown one.
    door.pairing_links(&channel, "")?;
    let wanted = NewPairing { channel: channel.clone(), scopes };
    let (secret, token) = app.access.offer_pairing(body.caller(), wanted).await?;
    let links = door.pairing_links(&channel, secret.reveal())?;
    Ok(Json(PairingCode {
        code: secret.reveal().to_owned(),
        expires_at: token.expires_at.to_string(),
        scopes: token.scopes.iter().map(|scope| scope.to_string()).collect(),
        links: links.into_iter().map(PairingLinkEntry::from).collect(),
    }))
}

/// Lists the accounts that are paired with the caller; for an operator, all of them.
#[utoipa::path(get, path = "/pairings", operation_id = "list_pairings", tag = "channels",
    responses((status = 200, body = PairingList), (status = "4XX", body = ErrorBody)))]
pub async fn pairings(State(app): State<App>, params: Params) -> ApiResult<Json<PairingList>> {
    let accounts = visible_accounts(&app, params.caller()).await?;
    Ok(Json(PairingList { pairings: accounts.iter().map(PairingEntry::of).collect() }))
}

/// Ends a pairing. The account then acts as no person.
#[utoipa::path(delete, path = "/pairings/{id}", operation_id = "end_pairing", tag = "channels",
    params(("id" = String, Path, description = "The pairing's id, or its account, such as `telegram:4711`.")),
    responses((status = 200, body = PairingEnded), (status = "4XX", body = ErrorBody)))]
pub async fn unpair(
    State(app): State<App>,
    Path(id): Path<String>,
    params: Params,
) -> ApiResult<Json<PairingEnded>> {
    let accounts = visible_accounts(&app, params.caller()).await?;
    let is_meant = |token: &Token| token.id == TokenId::new(&id) || token.label == id;
    let token =
        accounts.into_iter().find(is_meant).ok_or_else(|| ApiError::plain(Code::UnknownPairing))?;
    app.access.revoke(params.caller(), &token.id, RevocationScope::Own).await?;
    Ok(Json(PairingEnded { account: token.label }))
}

/// Lists the deliveries of a thread's newest events to the chats that the thread is bound to, the
/// newest first.
#[utoipa::path(get, path = "/threads/{id}/deliveries", operation_id = "list_deliveries", tag = "channels",
    params(("id" = String, Path, description = "The thread.")),
    responses((status = 200, body = DeliveryList), (status = "4XX", body = ErrorBody)))]
pub async fn deliveries(
    State(app): State<App>,
    ThreadId(stream): ThreadId,
    params: Params,
) -> ApiResult<Json<DeliveryList>> {
    let found = params.door(&app.entrance).chat_deliveries(&stream).await;
    let found = found.map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(DeliveryList { deliveries: found.iter().map(DeliveryEntry::from).collect() }))
}

/// Sends a delivery again that failed or may have arrived. Parts that are known to have arrived are
/// not repeated.
#[utoipa::path(post, path = "/threads/{id}/deliveries/{delivery}/again", operation_id = "send_again", tag = "channels",
    params(
        ("id" = String, Path, description = "The thread."),
        ("delivery" = u64, Path, description = "The delivery's id."),
    ),
    responses((status = 200, body = DeliveryResent), (status = "4XX", body = ErrorBody)))]
pub async fn again(
    State(app): State<App>,
    Path((thread, delivery)): Path<(String, u64)>,
    body: Body,
) -> ApiResult<Json<DeliveryResent>> {
    let stream = stream_id(&thread).ok_or_else(|| ApiError::no_thread(&thread))?;
    let sent = body.door(&app.entrance).send_again(&stream, delivery).await;
    sent.map_err(|error| ApiError::at_door(error, &stream))?;
    Ok(Json(DeliveryResent { resent: true }))
}

/// Returns the paired accounts that a caller may see and end.
async fn visible_accounts(app: &App, caller: &Caller) -> ApiResult<Vec<Token>> {
    let mut accounts = app.access.accounts().await?;
    if !caller.scopes.has(Scope::ServerAdmin) {
        let own = caller.principal().map(|principal| principal.id.clone());
        accounts.retain(|token| Some(&token.principal.id) == own.as_ref());
    }
    Ok(accounts)
}

impl Inbound for NewBot {
    fn missing(field: &str) -> ApiError {
        ApiError::new(
            Code::InvalidField,
            format!("'{field}' is missing: the agent and the token of its bot are needed."),
        )
    }
}

impl Inbound for PairingRequest {}
