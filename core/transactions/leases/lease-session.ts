/** A lane that the store says is ours. */
export interface OwnedLane {
  lane: string
  fence: number
  /** A living server asks for it. */
  wished: boolean
}

/** What a server hears of lanes. */
export interface LeaseNews {
  /** Somebody asks for a lane of ours. */
  wished(lane: string): void
  /** A lane was given to us. */
  given(lane: string): void
  /** Another server ended: any lane may be free. */
  freed(): void
  /** All lanes that the store says are ours, as it was at some moment after `askedAt` (`performance.now()`). */
  ours(lanes: readonly OwnedLane[], askedAt: number): void
}

/** This server's life as the others see it: what it owns is its own while it lives. */
export interface LeaseSession {
  /** Whether it certainly lives, at this moment. */
  lives(): boolean
  /** Raised whenever it may have been dead in between: what was held before must be asked for again. */
  term(): number
  /** Waits until it lives. @throws StoreUnavailable */
  revive(): Promise<void>
  /** Dies, so that others need not wait. */
  stop(): Promise<void>
}

/** A store of this process alone: nobody else can think that it is dead. */
export const soleSession: LeaseSession = { lives: () => true, term: () => 1, revive: async () => {}, stop: async () => {} }
