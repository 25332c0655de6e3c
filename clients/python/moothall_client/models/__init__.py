"""Contains all the data models used in inputs/outputs"""

from .accepted import Accepted
from .actor import Actor
from .adoption import Adoption
from .agent_claim import AgentClaim
from .agent_claimed import AgentClaimed
from .agent_entry import AgentEntry
from .agent_freed import AgentFreed
from .agent_list import AgentList
from .agent_registered import AgentRegistered
from .agent_registration import AgentRegistration
from .agent_revoked import AgentRevoked
from .app_entry import AppEntry
from .app_freed import AppFreed
from .app_page import AppPage
from .app_transfer import AppTransfer
from .asked_ref import AskedRef
from .attach_answer import AttachAnswer
from .audit_page import AuditPage
from .audit_row import AuditRow
from .away_computer import AwayComputer
from .bell import Bell
from .bot_entry import BotEntry
from .bot_offered import BotOffered
from .bot_removed import BotRemoved
from .budget_entry import BudgetEntry
from .budget_raise import BudgetRaise
from .budget_raised import BudgetRaised
from .call_mcp_response_200 import CallMcpResponse200
from .cancelled import Cancelled
from .cause_ref import CauseRef
from .channel_entry import ChannelEntry
from .channel_list import ChannelList
from .channel_resumed import ChannelResumed
from .chat_entry import ChatEntry
from .command_list import CommandList
from .command_ran import CommandRan
from .command_usage import CommandUsage
from .computer_entry import ComputerEntry
from .computer_forgotten import ComputerForgotten
from .computer_invitation import ComputerInvitation
from .computer_invited import ComputerInvited
from .computer_join import ComputerJoin
from .computer_joined import ComputerJoined
from .computer_list import ComputerList
from .computers_resumed import ComputersResumed
from .delivery_entry import DeliveryEntry
from .delivery_list import DeliveryList
from .delivery_resent import DeliveryResent
from .delta_signal import DeltaSignal
from .dialog_entry import DialogEntry
from .discussion_state import DiscussionState
from .draft import Draft
from .envelope import Envelope
from .error_body import ErrorBody
from .error_detail import ErrorDetail
from .event_page import EventPage
from .folder_answer import FolderAnswer
from .folder_place import FolderPlace
from .follow_signal import FollowSignal
from .follows_changed import FollowsChanged
from .forecast_entry import ForecastEntry
from .gathering_answer import GatheringAnswer
from .gathering_list import GatheringList
from .gathering_member import GatheringMember
from .gathering_rules import GatheringRules
from .gathering_step_type_0 import GatheringStepType0
from .gathering_step_type_0_event import GatheringStepType0Event
from .gathering_step_type_1 import GatheringStepType1
from .gathering_step_type_1_event import GatheringStepType1Event
from .gathering_step_type_2 import GatheringStepType2
from .gathering_step_type_2_event import GatheringStepType2Event
from .gathering_step_type_3 import GatheringStepType3
from .gathering_step_type_3_event import GatheringStepType3Event
from .gathering_step_type_4 import GatheringStepType4
from .gathering_step_type_4_event import GatheringStepType4Event
from .gathering_step_type_5 import GatheringStepType5
from .gathering_step_type_5_event import GatheringStepType5Event
from .gathering_step_type_6 import GatheringStepType6
from .gathering_step_type_6_event import GatheringStepType6Event
from .gathering_step_type_7 import GatheringStepType7
from .gathering_step_type_7_event import GatheringStepType7Event
from .gathering_step_type_8 import GatheringStepType8
from .gathering_step_type_8_event import GatheringStepType8Event
from .gathering_step_type_9 import GatheringStepType9
from .gathering_step_type_9_event import GatheringStepType9Event
from .guard_entry import GuardEntry
from .guard_lift import GuardLift
from .guards_answer import GuardsAnswer
from .hall_sessions import HallSessions
from .hall_start import HallStart
from .harvest import Harvest
from .health import Health
from .invitation_accepted import InvitationAccepted
from .invitation_code import InvitationCode
from .invitation_request import InvitationRequest
from .invitation_request_scopes_type_0_item import InvitationRequestScopesType0Item
from .invited_entry import InvitedEntry
from .join_prompt import JoinPrompt
from .keys_typed import KeysTyped
from .last_message import LastMessage
from .left_entry import LeftEntry
from .link_answer import LinkAnswer
from .link_entry import LinkEntry
from .link_list import LinkList
from .link_member import LinkMember
from .mcp_message import McpMessage
from .mcp_message_params_type_0 import McpMessageParamsType0
from .mention_place import MentionPlace
from .message_sent import MessageSent
from .meta import Meta
from .need_entry import NeedEntry
from .needs_answer import NeedsAnswer
from .needs_signal import NeedsSignal
from .new_answer import NewAnswer
from .new_bot import NewBot
from .new_command import NewCommand
from .new_event import NewEvent
from .new_follow import NewFollow
from .new_follows import NewFollows
from .new_gathering import NewGathering
from .new_gathering_breath_type_0 import NewGatheringBreathType0
from .new_gathering_member import NewGatheringMember
from .new_keys import NewKeys
from .new_keystroke import NewKeystroke
from .new_link import NewLink
from .new_link_member import NewLinkMember
from .new_message import NewMessage
from .new_meta import NewMeta
from .new_piece_pass import NewPiecePass
from .new_presence import NewPresence
from .new_presence_details_type_0 import NewPresenceDetailsType0
from .new_read_mark import NewReadMark
from .new_session import NewSession
from .new_task import NewTask
from .new_thread import NewThread
from .no_agent_asked import NoAgentAsked
from .occupation_entry import OccupationEntry
from .open_turn import OpenTurn
from .option_entry import OptionEntry
from .pairing_code import PairingCode
from .pairing_ended import PairingEnded
from .pairing_entry import PairingEntry
from .pairing_link_entry import PairingLinkEntry
from .pairing_list import PairingList
from .pairing_request import PairingRequest
from .participants_state import ParticipantsState
from .pending_answers import PendingAnswers
from .permission_answered import PermissionAnswered
from .piece_holder import PieceHolder
from .ping import Ping
from .post_entry import PostEntry
from .presence_accepted import PresenceAccepted
from .presence_entry import PresenceEntry
from .presence_entry_details_type_0 import PresenceEntryDetailsType0
from .presence_list import PresenceList
from .presence_update import PresenceUpdate
from .presence_update_details_type_0 import PresenceUpdateDetailsType0
from .preview import Preview
from .principal_ref import PrincipalRef
from .program_entry import ProgramEntry
from .progress_signal import ProgressSignal
from .published import Published
from .read_mark import ReadMark
from .read_openrpc_response_200 import ReadOpenrpcResponse200
from .redacted import Redacted
from .registration_entry import RegistrationEntry
from .registration_page import RegistrationPage
from .registration_refused import RegistrationRefused
from .revoke_request import RevokeRequest
from .screen_answer import ScreenAnswer
from .screen_cursor import ScreenCursor
from .screen_run import ScreenRun
from .search_answer import SearchAnswer
from .search_hit import SearchHit
from .session_acted import SessionActed
from .session_data_answer import SessionDataAnswer
from .session_end import SessionEnd
from .session_entry import SessionEntry
from .session_list import SessionList
from .session_resumed import SessionResumed
from .sign_in import SignIn
from .signed_out import SignedOut
from .silent_computer import SilentComputer
from .snippet_piece import SnippetPiece
from .start_asked import StartAsked
from .states_answer import StatesAnswer
from .states_signal import StatesSignal
from .stop_accepted import StopAccepted
from .stream_opened import StreamOpened
from .switch_state import SwitchState
from .task_begun import TaskBegun
from .thread_created import ThreadCreated
from .thread_created_policy import ThreadCreatedPolicy
from .thread_deleted import ThreadDeleted
from .thread_entry import ThreadEntry
from .thread_entry_names import ThreadEntryNames
from .thread_list import ThreadList
from .thread_state import ThreadState
from .thread_state_answer import ThreadStateAnswer
from .thread_state_policy import ThreadStatePolicy
from .token_created import TokenCreated
from .token_entry import TokenEntry
from .token_list import TokenList
from .token_request import TokenRequest
from .token_request_scopes_type_0_item import TokenRequestScopesType0Item
from .token_revoked import TokenRevoked
from .turn_context import TurnContext
from .turn_entry import TurnEntry
from .turn_event_type_0 import TurnEventType0
from .turn_event_type_0_event import TurnEventType0Event
from .turn_event_type_1 import TurnEventType1
from .turn_event_type_1_event import TurnEventType1Event
from .turn_event_type_2 import TurnEventType2
from .turn_event_type_2_event import TurnEventType2Event
from .turn_event_type_3 import TurnEventType3
from .turn_event_type_3_event import TurnEventType3Event
from .turn_event_type_4 import TurnEventType4
from .turn_event_type_4_event import TurnEventType4Event
from .turn_event_type_5 import TurnEventType5
from .turn_event_type_5_event import TurnEventType5Event
from .turn_event_type_6 import TurnEventType6
from .turn_event_type_6_event import TurnEventType6Event
from .turn_event_type_7 import TurnEventType7
from .turn_event_type_7_event import TurnEventType7Event
from .turn_event_type_8 import TurnEventType8
from .turn_event_type_8_event import TurnEventType8Event
from .turn_event_type_9 import TurnEventType9
from .turn_event_type_9_event import TurnEventType9Event
from .turn_event_type_10 import TurnEventType10
from .turn_event_type_10_event import TurnEventType10Event
from .turn_event_type_11 import TurnEventType11
from .turn_event_type_11_event import TurnEventType11Event
from .turn_event_type_12 import TurnEventType12
from .turn_event_type_12_event import TurnEventType12Event
from .turn_event_type_13 import TurnEventType13
from .turn_event_type_13_event import TurnEventType13Event
from .turn_event_type_14 import TurnEventType14
from .turn_event_type_14_event import TurnEventType14Event
from .turn_event_type_15 import TurnEventType15
from .turn_event_type_15_event import TurnEventType15Event
from .turn_list import TurnList
from .unasked_message import UnaskedMessage
from .upcoming_entry import UpcomingEntry
from .usage_answer import UsageAnswer
from .usage_row import UsageRow
from .who_am_i import WhoAmI
from .wire_fault import WireFault
from .wire_profile import WireProfile
from .wire_usage import WireUsage

__all__ = (
    "Accepted",
    "Actor",
    "Adoption",
    "AgentClaim",
    "AgentClaimed",
    "AgentEntry",
    "AgentFreed",
    "AgentList",
    "AgentRegistered",
    "AgentRegistration",
    "AgentRevoked",
    "AppEntry",
    "AppFreed",
    "AppPage",
    "AppTransfer",
    "AskedRef",
    "AttachAnswer",
    "AuditPage",
    "AuditRow",
    "AwayComputer",
    "Bell",
    "BotEntry",
    "BotOffered",
    "BotRemoved",
    "BudgetEntry",
    "BudgetRaise",
    "BudgetRaised",
    "CallMcpResponse200",
    "Cancelled",
    "CauseRef",
    "ChannelEntry",
    "ChannelList",
    "ChannelResumed",
    "ChatEntry",
    "CommandList",
    "CommandRan",
    "CommandUsage",
    "ComputerEntry",
    "ComputerForgotten",
    "ComputerInvitation",
    "ComputerInvited",
    "ComputerJoin",
    "ComputerJoined",
    "ComputerList",
    "ComputersResumed",
    "DeliveryEntry",
    "DeliveryList",
    "DeliveryResent",
    "DeltaSignal",
    "DialogEntry",
    "DiscussionState",
    "Draft",
    "Envelope",
    "ErrorBody",
    "ErrorDetail",
    "EventPage",
    "FolderAnswer",
    "FolderPlace",
    "FollowsChanged",
    "FollowSignal",
    "ForecastEntry",
    "GatheringAnswer",
    "GatheringList",
    "GatheringMember",
    "GatheringRules",
    "GatheringStepType0",
    "GatheringStepType0Event",
    "GatheringStepType1",
    "GatheringStepType1Event",
    "GatheringStepType2",
    "GatheringStepType2Event",
    "GatheringStepType3",
    "GatheringStepType3Event",
    "GatheringStepType4",
    "GatheringStepType4Event",
    "GatheringStepType5",
    "GatheringStepType5Event",
    "GatheringStepType6",
    "GatheringStepType6Event",
    "GatheringStepType7",
    "GatheringStepType7Event",
    "GatheringStepType8",
    "GatheringStepType8Event",
    "GatheringStepType9",
    "GatheringStepType9Event",
    "GuardEntry",
    "GuardLift",
    "GuardsAnswer",
    "HallSessions",
    "HallStart",
    "Harvest",
    "Health",
    "InvitationAccepted",
    "InvitationCode",
    "InvitationRequest",
    "InvitationRequestScopesType0Item",
    "InvitedEntry",
    "JoinPrompt",
    "KeysTyped",
    "LastMessage",
    "LeftEntry",
    "LinkAnswer",
    "LinkEntry",
    "LinkList",
    "LinkMember",
    "McpMessage",
    "McpMessageParamsType0",
    "MentionPlace",
    "MessageSent",
    "Meta",
    "NeedEntry",
    "NeedsAnswer",
    "NeedsSignal",
    "NewAnswer",
    "NewBot",
    "NewCommand",
    "NewEvent",
    "NewFollow",
    "NewFollows",
    "NewGathering",
    "NewGatheringBreathType0",
    "NewGatheringMember",
    "NewKeys",
    "NewKeystroke",
    "NewLink",
    "NewLinkMember",
    "NewMessage",
    "NewMeta",
    "NewPiecePass",
    "NewPresence",
    "NewPresenceDetailsType0",
    "NewReadMark",
    "NewSession",
    "NewTask",
    "NewThread",
    "NoAgentAsked",
    "OccupationEntry",
    "OpenTurn",
    "OptionEntry",
    "PairingCode",
    "PairingEnded",
    "PairingEntry",
    "PairingLinkEntry",
    "PairingList",
    "PairingRequest",
    "ParticipantsState",
    "PendingAnswers",
    "PermissionAnswered",
    "PieceHolder",
    "Ping",
    "PostEntry",
    "PresenceAccepted",
    "PresenceEntry",
    "PresenceEntryDetailsType0",
    "PresenceList",
    "PresenceUpdate",
    "PresenceUpdateDetailsType0",
    "Preview",
    "PrincipalRef",
    "ProgramEntry",
    "ProgressSignal",
    "Published",
    "ReadMark",
    "ReadOpenrpcResponse200",
    "Redacted",
    "RegistrationEntry",
    "RegistrationPage",
    "RegistrationRefused",
    "RevokeRequest",
    "ScreenAnswer",
    "ScreenCursor",
    "ScreenRun",
    "SearchAnswer",
    "SearchHit",
    "SessionActed",
    "SessionDataAnswer",
    "SessionEnd",
    "SessionEntry",
    "SessionList",
    "SessionResumed",
    "SignedOut",
    "SignIn",
    "SilentComputer",
    "SnippetPiece",
    "StartAsked",
    "StatesAnswer",
    "StatesSignal",
    "StopAccepted",
    "StreamOpened",
    "SwitchState",
    "TaskBegun",
    "ThreadCreated",
    "ThreadCreatedPolicy",
    "ThreadDeleted",
    "ThreadEntry",
    "ThreadEntryNames",
    "ThreadList",
    "ThreadState",
    "ThreadStateAnswer",
    "ThreadStatePolicy",
    "TokenCreated",
    "TokenEntry",
    "TokenList",
    "TokenRequest",
    "TokenRequestScopesType0Item",
    "TokenRevoked",
    "TurnContext",
    "TurnEntry",
    "TurnEventType0",
    "TurnEventType0Event",
    "TurnEventType1",
    "TurnEventType10",
    "TurnEventType10Event",
    "TurnEventType11",
    "TurnEventType11Event",
    "TurnEventType12",
    "TurnEventType12Event",
    "TurnEventType13",
    "TurnEventType13Event",
    "TurnEventType14",
    "TurnEventType14Event",
    "TurnEventType15",
    "TurnEventType15Event",
    "TurnEventType1Event",
    "TurnEventType2",
    "TurnEventType2Event",
    "TurnEventType3",
    "TurnEventType3Event",
    "TurnEventType4",
    "TurnEventType4Event",
    "TurnEventType5",
    "TurnEventType5Event",
    "TurnEventType6",
    "TurnEventType6Event",
    "TurnEventType7",
    "TurnEventType7Event",
    "TurnEventType8",
    "TurnEventType8Event",
    "TurnEventType9",
    "TurnEventType9Event",
    "TurnList",
    "UnaskedMessage",
    "UpcomingEntry",
    "UsageAnswer",
    "UsageRow",
    "WhoAmI",
    "WireFault",
    "WireProfile",
    "WireUsage",
)
