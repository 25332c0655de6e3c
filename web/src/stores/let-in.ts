/** Creates codes and tokens for others. Loaded with the dialogs that ask for it. */

import type { Given, Wish } from '../lib/access';
import { post } from '../lib/client';

const HOURS_OF_DAY = 24;

/**
 * Creates a code or a token for one conversation. The secret is in this answer and in no later one.
 */
export async function letIn(thread: string, id: string, kind: 'human' | 'agent', wish: Wish): Promise<Given> {
  const asked = { principal: id, kind, scopes: wish.scopes };
  if (wish.way === 'code') {
    const made = await post<{ code: string; expires_at: string | null }>(`/threads/${thread}/invitations`, {
      ...asked,
      expires_in_hours: wish.hours,
    });
    return { way: 'code', secret: made.code, expiresAt: made.expires_at };
  }
  const made = await post<{ token: string; expires_at: string }>('/tokens', {
    ...asked,
    threads: [thread],
    expires_in_days: Math.ceil(wish.hours / HOURS_OF_DAY),
    label: 'from the page',
  });
  return { way: 'token', secret: made.token, expiresAt: made.expires_at };
}
