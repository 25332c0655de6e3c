// A client with the types of the interface description for paths, bodies and answers.

import createClient, { type Client } from 'openapi-fetch';

import type { components, paths } from './api.d.ts';

export type Schemas = components['schemas'];

/** Returns a client for the server at this address, e.g. `http://127.0.0.1:5111`, with a token if the server requires one. */
export function moothall(baseUrl: string, token?: string): Client<paths> {
  return createClient<paths>({ baseUrl, headers: token ? { authorization: `Bearer ${token}` } : {} });
}
