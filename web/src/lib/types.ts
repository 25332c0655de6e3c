/**
 * The wire types that the page reads. They come from the API's description, except where it leaves
 * a type open.
 */

import type { Phase, PolicyName, Withdrawal } from './wire';
import type { components } from '../../../clients/typescript/api';

type Schemas = components['schemas'];

/** A tool that an agent wants to use, and all of its input. */
export interface ActionDetail {
  tool: string;
  parts: ActionPart[];
  /** The words of the dialog that asks, if the report is beside it. */
  screen?: string;
  /** The place of the question, if the program asks several in one call. */
  step?: { number: number; of: number };
}

export interface ActionPart {
  role: 'command' | 'path' | 'before' | 'after' | 'content' | 'address' | 'claim' | 'question' | 'other';
  name: string;
  text: string;
}

export type CauseRef = Schemas['CauseRef'];
export type Fault = Schemas['WireFault'];
export type Meta = Schemas['Meta'];
export type MentionPlace = Schemas['MentionPlace'];
export type Envelope = Schemas['Envelope'];
export type Usage = Schemas['WireUsage'];
export type Budget = Schemas['BudgetEntry'];
export type UsageRow = Schemas['UsageRow'];
export type GuardEntry = Schemas['GuardEntry'];
export type GuardsAnswer = Schemas['GuardsAnswer'];
/** The reason for which a message asks no agent. */
export type Unasked = Schemas['NoAgentAsked'];
export type TurnList = Schemas['TurnList'];
export type TurnContext = Schemas['TurnContext'];
export type UsageAnswer = Schemas['UsageAnswer'];
export type TurnEvent = Schemas['TurnEvent'];
export type Profile = Schemas['WireProfile'];
export type Invited = Schemas['InvitedEntry'];
export type OpenTurn = Schemas['OpenTurn'];
/** The state of a participant. */
export type Occupation = Schemas['OccupationEntry'];
export type StatesSignal = Schemas['StatesSignal'];
/** Something that waits for the reader. */
export type Need = Schemas['NeedEntry'];
export type NeedsSignal = Schemas['NeedsSignal'];
export type AskedRef = Schemas['AskedRef'];
export type ThreadEntry = Schemas['ThreadEntry'];
export type Bell = Schemas['Bell'];
export type HallStart = Schemas['HallStart'];
export type HallSessions = Schemas['HallSessions'];
export type FollowSignal = Schemas['FollowSignal'];
export type ReadMark = Schemas['ReadMark'];
export type ThreadDeleted = Schemas['ThreadDeleted'];
export type EventPage = Schemas['EventPage'];
export type Accepted = Schemas['Accepted'];
export type PresenceEntry = Schemas['PresenceEntry'];
export type PresenceUpdate = Schemas['PresenceUpdate'];
export type AgentEntry = Schemas['AgentEntry'];
export type TurnEntry = Schemas['TurnEntry'];
export type PermissionOption = Schemas['OptionEntry'];
export type Delta = Schemas['DeltaSignal'];
export type Progress = Schemas['ProgressSignal'];
export type SessionEntry = Schemas['SessionEntry'];
export type ProgramEntry = Schemas['ProgramEntry'];
export type FolderAnswer = Schemas['FolderAnswer'];
export type LinkMember = Schemas['LinkMember'];
export type LinkEntry = Schemas['LinkEntry'];
export type LinkList = Schemas['LinkList'];
export type NewLinkMember = Schemas['NewLinkMember'];
export type ScreenEntry = Schemas['ScreenAnswer'];
export type ScreenRun = Schemas['ScreenRun'];
export type NewKeystroke = Schemas['NewKeystroke'];
export type KeysTyped = Schemas['KeysTyped'];
export type Gathering = Schemas['GatheringAnswer'];
export type NewGatheringMember = Schemas['NewGatheringMember'];
export type GatheringMember = Schemas['GatheringMember'];
export type Harvest = Schemas['Harvest'];
export type NewGathering = Schemas['NewGathering'];
export type BotEntry = Schemas['BotEntry'];
export type BotRemoved = Schemas['BotRemoved'];
export type ChannelList = Schemas['ChannelList'];
export type ChatEntry = Schemas['ChatEntry'];
export type DeliveryEntry = Schemas['DeliveryEntry'];
export type PairingCode = Schemas['PairingCode'];
export type PairingEntry = Schemas['PairingEntry'];
export type NewPiecePass = Schemas['NewPiecePass'];

/** The content of events of type `permission`. */
export type PermissionEvent =
  | {
      event: 'requested';
      permission: string;
      /**
       * Null if the request belongs to no turn: an agent asks to start a program, or its program
       * asks before it takes words.
       */
      turn: string | null;
      participant: string;
      action: string;
      detail?: ActionDetail;
      /** True if `action` is complete. */
      complete: boolean;
      options: PermissionOption[];
      /** Null if the request does not expire. */
      expires: string | null;
      /** The folder in which the action would run. */
      folder?: string;
      /** The command that shows the terminal on the server's computer. */
      look?: string;
    }
  | {
      event: 'answered';
      permission: string;
      by: string;
      option: string;
      label: string;
      /** The answer in a person's own words; empty after an erasure. */
      text?: string;
    }
  | { event: 'expired'; permission: string }
  /** The agent stopped waiting for an answer. */
  | { event: 'gave_up'; permission: string }
  | {
      /** The outcome of a request to start a program, or of one to talk to a session. */
      event: 'settled';
      permission: string;
      outcome: 'started' | 'linked' | 'failed' | 'refused' | 'expired';
      /** Name of the other session, as the agent wrote it, and the first message. */
      talk?: { to: string; message: string };
      /** The running session, and its name. */
      session?: string;
      name?: string;
      /** Reason why the first message did not reach the session. */
      unsaid?: string;
      why?: string;
      by?: string;
    }
  | { event: 'withdrawn'; permission: string; because: Exclude<Withdrawal, 'gave_up'> };

/** The phases of a breath, and the close. */
export type GatheringPhase = Phase | 'close';

type Step = Schemas['GatheringStep'];

/** The content of events of type `gathering`. */
export type GatheringEvent =
  Exclude<Step, { event: 'round_opened' }> | (Extract<Step, { event: 'round_opened' }> & { phase: GatheringPhase });

export interface Policy {
  name: PolicyName;
  [key: string]: number | string | boolean | null;
}

/**
 * The state of a thread. The settings depend on the policy, so the description leaves them open.
 */
export type ThreadState = Omit<Schemas['ThreadState'], 'policy'> & { policy: Policy };
export type StateAnswer = Omit<Schemas['ThreadStateAnswer'], 'state'> & { state: ThreadState };
