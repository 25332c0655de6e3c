/**
 * The place of the page: `/`, `/t/<id>`, `/t/<id>#<seq>`, `/t/<id>/terminal` for the terminal of an
 * agent, or `/s` for the list of agents. `/s/<id>` is an older address of a terminal.
 */

/** The part of an agent's page that is in front, if there is room for one. */
export type Tab = 'conversation' | 'terminal';

export interface Place {
  view: 'room' | 'agents';
  thread: string | null;
  tab: Tab;
  seq: number | null;
}

const THREAD = /^\/t\/([A-Za-z0-9-]{1,64})(\/terminal)?\/?$/;
const AGENTS = '/s';
const SESSION = /^\/s\/([A-Za-z0-9-]{1,64})\/?$/;

export function read(location: { pathname: string; hash: string }): Place {
  const none = { thread: null, tab: 'conversation', seq: null } as const;
  if (location.pathname.replace(/\/$/, '') === AGENTS) return { ...none, view: 'agents' };
  const session = SESSION.exec(location.pathname)?.[1];
  if (session) return { ...none, view: 'room', thread: session, tab: 'terminal' };
  const [, thread = null, terminal] = THREAD.exec(location.pathname) ?? [];
  const seq = /^#(\d{1,15})$/.exec(location.hash)?.[1];
  const tab = terminal ? 'terminal' : 'conversation';
  return { view: 'room', thread, tab, seq: thread && seq && !terminal ? Number(seq) : null };
}

export function linkTo(thread: string, seq?: number): string {
  return `/t/${thread}${seq === undefined ? '' : `#${seq}`}`;
}

/** Returns the address of a session's terminal, or of the list of agents. */
export function linkToSession(session: string | null): string {
  return session ? `/t/${session}/terminal` : AGENTS;
}

export class Router {
  place = $state.raw<Place>(read(location));

  constructor() {
    this.#renew();
    const follow = () => {
      this.#renew();
      this.place = read(location);
    };
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
  }

  go(thread: string | null, seq?: number): void {
    this.#follow(thread ? linkTo(thread, seq) : '/');
  }

  goSession(session: string | null): void {
    this.#follow(linkToSession(session));
  }

  #follow(path: string): void {
    if (path !== location.pathname + location.hash) history.pushState(null, '', path);
    this.place = read(location);
  }

  /** Replaces an older address by the present one. */
  #renew(): void {
    const session = SESSION.exec(location.pathname)?.[1];
    if (session) history.replaceState(null, '', linkToSession(session) + location.hash);
  }
}

/**
 * Returns a click handler for links within the page. Follows them here, unless the person asks for
 * another tab.
 */
export function following(go: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go();
  };
}
