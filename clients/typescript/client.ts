// A client whose paths, bodies and answers have the types of the description.

import createClient, { type Client } from 'openapi-fetch';

import type { components, paths } from './api.d.ts';

export type Schemas = components['schemas'];

/** Talks to the server at this address, e.g. `http://127.0.0.1:5111`, with a token where it wants one. */
export function moothall(baseUrl: string, token?: string): Client<paths> {
  return createClient<paths>({ baseUrl, headers: token ? { authorization: `Bearer ${token}` } : {} });
}
