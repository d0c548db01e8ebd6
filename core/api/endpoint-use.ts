import type { Endpoint, Permission } from './endpoint.ts'

/** What calling an endpoint does: it reads, it makes a transaction of a wallet, or it decides for others what the server does. */
export type EndpointUse = 'reads' | 'acts' | 'governs'

/** Permissions of people. */
const governing: readonly (Permission | undefined)[] = ['admin', 'stop', 'resume', 'approve']

/** Requests that wait for a second person belong to people altogether, and so does stopping, which needs no permission of its own. */
export function useOf({ method, path, permission, acts }: Pick<Endpoint, 'method' | 'path' | 'permission' | 'acts'>): EndpointUse {
  if (acts) return 'acts'
  const isOfPeople = governing.includes(permission) || path.startsWith('/approvals') || (path === '/stops' && method !== 'GET')
  return isOfPeople ? 'governs' : 'reads'
}
