// A process of its own between the server and the signer. It holds the passphrase, so that the server need not and a
// signer that died can be started again, and passes every message on: the signer is who reads them. It never sees a key.
import { exitWithParent, tellParent, supervise } from './supervisor.ts'

let open: object | undefined

const signer = supervise({
  module: 'signer-process',
  onMessage: (message) => {
    if (message instanceof Object) tellParent(message)
  },
  onExit: (reason) => tellParent({ type: 'down', reason }),
  onRestart: () => {
    if (open) signer.send(open)
  },
})

process.on('message', (message) => {
  if (!(message instanceof Object) || !('type' in message)) return
  if (message.type === 'open') open = message
  // A signer that is started later must have the newest policy.
  if (message.type === 'policy' && 'policy' in message && open) open = { ...open, policy: message.policy }
  signer.send(message)
})

exitWithParent(() => {
  void signer.stop(2_000).then(() => process.exit(0))
})
