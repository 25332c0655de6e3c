/**
 * The place of the page: `/`, `/t/<id>` or `/t/<id>#<seq>`, or among the sessions `/s` or
 * `/s/<id>`.
 */

export interface Place {
  view: 'room' | 'sessions';
  thread: string | null;
  seq: number | null;
  session: string | null;
}

const THREAD = /^\/t\/([A-Za-z0-9-]{1,64})\/?$/;
const SESSIONS = /^\/s(?:\/([A-Za-z0-9-]{1,64}))?\/?$/;

export function read(location: { pathname: string; hash: string }): Place {
  const sessions = SESSIONS.exec(location.pathname);
  if (sessions) return { view: 'sessions', thread: null, seq: null, session: sessions[1] ?? null };
  const thread = THREAD.exec(location.pathname)?.[1] ?? null;
  const seq = /^#(\d{1,15})$/.exec(location.hash)?.[1];
  return { view: 'room', thread, seq: thread && seq ? Number(seq) : null, session: null };
}

export function linkTo(thread: string, seq?: number): string {
  return `/t/${thread}${seq === undefined ? '' : `#${seq}`}`;
}

export function linkToSession(session: string | null): string {
  return session ? `/s/${session}` : '/s';
}

class Router {
  place = $state.raw<Place>(read(location));

  constructor() {
    const follow = () => (this.place = read(location));
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
}

export const router = new Router();

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
