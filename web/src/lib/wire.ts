/**
 * Words of the wire. Generated from the server's enums: MOOTHALL_BLESS=1 cargo test -p moothall-surfaces.
 */

export type TurnReason =
  | 'forced'
  | 'polled'
  | 'reaction'
  | 'round'
  | 'piece'
  | 'beat'
  | 'link'
  | 'prod'
  | 'outcome'
  | 'hosted';

export type WhyNot =
  | 'passed'
  | 'capped'
  | 'cooled'
  | 'muted'
  | 'paused'
  | 'offline'
  | 'skipped'
  | 'held'
  | 'over_budget'
  | 'reads_only'
  | 'ended'
  | 'queue_full'
  | 'round_over';

export type Outcome =
  | 'spoke'
  | 'passed'
  | 'failed'
  | 'expired'
  | 'cancelled';

export type KeptBecause =
  | 'late'
  | 'muted'
  | 'paused'
  | 'archived'
  | 'uninvited'
  | 'listening'
  | 'no_piece'
  | 'capped'
  | 'stopped'
  | 'held'
  | 'after_stop'
  | 'thought'
  | 'unfinished';

export type Guard =
  | 'exchanges'
  | 'pair'
  | 'repeat'
  | 'stopped';

export type Ending =
  | 'stop'
  | 'length'
  | 'filter'
  | 'refusal'
  | 'tool'
  | 'error'
  | 'cut';

export type PolicyName =
  | 'hybrid'
  | 'mention_only'
  | 'round_robin'
  | 'open'
  | 'talking_piece';

export type StateWord =
  | 'ended'
  | 'asks'
  | 'writing'
  | 'working'
  | 'thinking'
  | 'muted'
  | 'paused'
  | 'waits'
  | 'queued'
  | 'ready'
  | 'away';

export type Phase =
  | 'inhale'
  | 'hold'
  | 'exhale';

export type HoldEnd =
  | 'passed'
  | 'last_word'
  | 'grace'
  | 'gone'
  | 'stopped';

export type Withdrawal =
  | 'gone'
  | 'replaced'
  | 'not_given'
  | 'gave_up'
  | 'left';
