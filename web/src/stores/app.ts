/**
 * The stores of the page, built once, each from those that it needs. A store is given the others and
 * imports none of them, so this order is the only one. Views, and helpers of views, take them here.
 */

import { get } from '../lib/client';
import type { Spent } from '../lib/budgets';
import type { Invited } from '../lib/types';
import { Channels } from './channels.svelte';
import { Deletion } from './deletion.svelte';
import { Desktop } from './desktop.svelte';
import { Finder } from './finder.svelte';
import { Hall } from './hall.svelte';
import { Home } from './home.svelte';
import { Invitation } from './invitation.svelte';
import { Live } from './live.svelte';
import { Me } from './me.svelte';
import { Needs } from './needs.svelte';
import { Outboxes } from './outbox.svelte';
import { Reads } from './reads.svelte';
import { Rooms } from './rooms.svelte';
import { Router } from './router.svelte';
import { Session } from './session.svelte';
import { Sessions } from './sessions.svelte';
import { Settings } from './settings.svelte';
import { States } from './states.svelte';
import { Agreements, Subject, Ui } from './ui.svelte';

export const me = new Me();
export const ui = new Ui();
export const agreements = new Agreements();
export const invitation = new Invitation();
/** The participant for whom another code or token is made. */
export const letting = new Subject<Invited>();
/** The budget that the dialog raises. */
export const raising = new Subject<Spent>();
export const settings = new Settings();
export const router = new Router();
export const live = new Live();
export const channels = new Channels();
export const finder = new Finder(me, ui);
export const reads = new Reads(me);
export const states = new States(me);
export const outboxes = new Outboxes(me, ui);
export const needs = new Needs(me, reads);
export const home = new Home(needs);
export const session = new Session(me, live, router, ui);
export const sessions = new Sessions(me, ui);
export const hall = new Hall({ me, live, needs, outboxes, reads, session, sessions, states, ui });
export const rooms = new Rooms({ get, me, live, hall, reads, states, sessions, outboxes, channels, ui });
export const deletion = new Deletion({ hall, outboxes, reads, rooms, router, session, sessions, ui });
export const desktop = new Desktop(home, needs, router, settings, ui);
