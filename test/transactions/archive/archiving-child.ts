// Archives old transactions until it is killed. Says when it is ready and when lines are on the disk; may stop there, before it deletes the rows.
import { openStore } from '../../../core/store/open-store.ts'
import { createArchiveFiles } from '../../../core/transactions/archive-files.ts'
import { archiveOn } from './archive-site.ts'

const [serverId = '', folder = '', stopsWhenWritten = '', dataDir = '', url] = process.argv.slice(2)
const say = (word: string) => process.stdout.write(`${word}\n`)

const store = await openStore({ dataDir, ...(url && { url }), serverName: 'child', log: { info: () => {}, warn: () => {} } })
const files = createArchiveFiles(folder)
const site = archiveOn(store, folder, {
  serverId,
  files: () => ({
    folder,
    async append(entries) {
      await files.append(entries)
      say('written')
      if (stopsWhenWritten === 'stop') await new Promise(() => {})
    },
  }),
})
say('ready')
await site.archiver.run()
say('done')
setInterval(() => {}, 1_000)
