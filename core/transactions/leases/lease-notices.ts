/** Where servers on one PostgreSQL tell each other what happens to lanes. Whoever misses one finds out by asking, a little later. */
export const noticeChannel = 'sluice_lanes'

export interface Notice {
  /** `wish`: somebody asks for the lane. `given`: it has a new owner. `gone`: what the server owned is free. */
  is: 'wish' | 'given' | 'gone'
  /** Whom it concerns: the owner, the new one, the one that ended. */
  server: string
  lane: string
}

export const writeNotice = ({ is, server, lane }: Notice): string => `${is} ${server} ${lane}`

/** Undefined for what is none: anybody may speak on a channel. */
export function readNotice(text: string): Notice | undefined {
  const [, is, server, lane] = /^(wish|given|gone) (\S+) (.*)$/.exec(text) ?? []
  if (server === undefined || lane === undefined) return undefined
  return is === 'wish' || is === 'given' || is === 'gone' ? { is, server, lane } : undefined
}
