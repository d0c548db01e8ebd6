/**
 * How the processes beside the server behave: they end when the server does and on nothing else that is polite.
 * Ctrl-C and a service manager's SIGTERM go to the whole group; the server still needs its signer while it drains.
 * SIGUSR1 would open Node's debugger, through which any process of the same user could read the keys.
 */
export function keepProcessManners(onServerGone: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  process.on('disconnect', onServerGone)
  // It may have ended while this process was still loading its modules: nobody heard that event.
  if (!process.connected) onServerGone()
}

/** To the process that forked this one. When it is gone there is nobody to tell: `disconnect` follows. */
export function tellParent(message: object): void {
  process.send?.(message, undefined, undefined, () => {})
}
