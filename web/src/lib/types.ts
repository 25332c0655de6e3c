/** The wire types that the page reads: made from the API's description, but for what the description leaves open. */

import type { components } from '../../../clients/typescript/api';

type Schemas = components['schemas'];

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
/** The reason for which words ask no agent. */
export type Unasked = Schemas['NoAgentAsked'];
export type TurnList = Schemas['TurnList'];
export type UsageAnswer = Schemas['UsageAnswer'];
export type TurnEvent = Schemas['TurnEvent'];
export type Profile = Schemas['WireProfile'];
export type Invited = Schemas['InvitedEntry'];
export type OpenTurn = Schemas['OpenTurn'];
export type AskedRef = Schemas['AskedRef'];
export type ThreadEntry = Schemas['ThreadEntry'];
export type Bell = Schemas['Bell'];
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
export type LinkMember = Schemas['LinkMember'];
export type LinkEntry = Schemas['LinkEntry'];
export type LinkList = Schemas['LinkList'];
export type NewLinkMember = Schemas['NewLinkMember'];
export type ScreenEntry = Schemas['ScreenAnswer'];
export type Gathering = Schemas['GatheringAnswer'];
export type GatheringMember = Schemas['GatheringMember'];
export type Harvest = Schemas['Harvest'];
export type NewGathering = Schemas['NewGathering'];
export type NewPiecePass = Schemas['NewPiecePass'];

/** The content of events of type `permission`. */
export type PermissionEvent =
  | {
      event: 'requested';
      permission: string;
      /** Nothing where it belongs to no turn: an agent's wish to start a program, or what its program asks before it takes any words. */
      turn: string | null;
      participant: string;
      action: string;
      /** Whether that is all of it. */
      complete: boolean;
      options: PermissionOption[];
      /** Nothing where it waits for as long as it is asked. */
      expires: string | null;
      /** The folder in which it would be done. */
      folder?: string;
      /** The command with which to look at it on the server's computer. */
      look?: string;
    }
  | {
      event: 'answered';
      permission: string;
      by: string;
      option: string;
      label: string;
      /** Words of their own; empty where they were erased. */
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
      /** The name of the other session, as the agent wrote it, and the first words. */
      talk?: { to: string; message: string };
      /** The session that runs, and its name. */
      session?: string;
      name?: string;
      /** Why its first message did not reach it, where it did not. */
      unsaid?: string;
      why?: string;
      by?: string;
    }
  | { event: 'withdrawn'; permission: string; because: 'gone' | 'replaced' | 'left' | 'not_given' };

/** Those of a breath, and the close. */
export type GatheringPhase = 'inhale' | 'hold' | 'exhale' | 'close';

type Step = Schemas['GatheringStep'];

/** The content of events of type `gathering`. */
export type GatheringEvent =
  Exclude<Step, { event: 'round_opened' }> | (Extract<Step, { event: 'round_opened' }> & { phase: GatheringPhase });

export type PolicyName = 'hybrid' | 'mention_only' | 'round_robin' | 'open' | 'talking_piece';

export interface Policy {
  name: PolicyName;
  [key: string]: number | string | boolean | null;
}

/** The state of a thread. Which settings a policy has depends on the policy, so the description leaves them open. */
export type ThreadState = Omit<Schemas['ThreadState'], 'policy'> & { policy: Policy };
export type StateAnswer = Omit<Schemas['ThreadStateAnswer'], 'state'> & { state: ThreadState };
