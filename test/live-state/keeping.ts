/** How long a synchroniser keeps what it knows while it is tested: nothing is compared with the chain or dropped but where a test says so. */
export const keeping = { staleBlocks: 2, staleBlockSeconds: 60, checkSeconds: 3600, idleSeconds: 3600, maxKeys: 100 }
