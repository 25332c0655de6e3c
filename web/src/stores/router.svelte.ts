/** Where the page is: `/`, `/t/<id>` or `/t/<id>#<seq>`. */

export interface Place {
  thread: string | null;
  seq: number | null;
}

const THREAD = /^\/t\/([A-Za-z0-9-]{1,64})\/?$/;

export function read(location: { pathname: string; hash: string }): Place {
  const thread = THREAD.exec(location.pathname)?.[1] ?? null;
  const seq = /^#(\d{1,15})$/.exec(location.hash)?.[1];
  return { thread, seq: thread && seq ? Number(seq) : null };
}

export function linkTo(thread: string, seq?: number): string {
  return `/t/${thread}${seq === undefined ? '' : `#${seq}`}`;
}

class Router {
  place = $state.raw<Place>(read(location));

  constructor() {
    const follow = () => (this.place = read(location));
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
  }

  go(thread: string | null, seq?: number): void {
    const path = thread ? linkTo(thread, seq) : '/';
    if (path !== location.pathname + location.hash) history.pushState(null, '', path);
    this.place = { thread, seq: seq ?? null };
  }
}

export const router = new Router();
