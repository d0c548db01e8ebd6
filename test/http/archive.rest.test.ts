import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { program } from '../../core/cli/program.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { openStore } from '../../core/store/open-store.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { dayMs } from '../../core/transactions/archiver.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { isPostgresInstalled, startPostgres, type TestPostgres } from '../store/postgres.ts'
import { silent, until } from '../transactions/site.ts'
import { oneChain } from './one-chain.ts'

const local = { chain: 'ethereum', network: 'local' }
const [mine, other] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC']
const swap = { ...local, connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.01', address: mine }

for (const kind of ['embedded', 'postgres'] as const) {
  describe(`a server with transactions that ended long ago (${kind})`, function () {
    this.timeout(300_000)
    let postgres: TestPostgres | undefined
    let server: TestServer
    let kernel: Kernel
    let client: Client
    let folder: string
    let first: { txHash: string }
    let fill: unknown
    const body = { ...swap }

    before(async function () {
      if (kind === 'postgres' && !isPostgresInstalled) this.skip()
      folder = await mkdtemp(path.join(tmpdir(), 'sluice-export-'))
      postgres = kind === 'postgres' ? await startPostgres() : undefined
      const clients = {
        client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
        trader: { permissions: ['read', 'trade'], wallets: [other] },
      }
      server = await startServer({
        conf: { ...oneChain.conf, 'clients.yml': { clients } },
        settings: { ...oneChain.settings, ...(postgres && { 'store.url': await postgres.database() }) },
        between: async (url) => url,
      })
      await newClient(server.settings.ssl.certsDir, 'trader')
      ;({ kernel, client } = server)
      first = await trade('long-ago')
      fill = (await poll(first.txHash)).fill
      await trade('later')
      await passDays(91)
    })
    after(async () => {
      client?.close()
      await kernel?.stop()
      await server?.stop()
      await postgres?.stop()
      if (folder) await rm(folder, { recursive: true, force: true })
    })

    const poll = async (txHash: string) => (await client.get('/network/poll', { ...local, txHash })).body

    async function trade(key: string): Promise<{ txHash: string }> {
      const answer = await client.post('/amm/trade', body, { headers: { 'Idempotency-Key': key } })
      expect(answer.status, answer.text).to.equal(200)
      await until('it is confirmed', async () => (await poll(answer.body.txHash)).txState === 'CONFIRMED')
      return answer.body
    }

    /** Servers ran for so many days before the next one starts. */
    async function passDays(days: number): Promise<void> {
      client.close()
      await kernel.stop()
      const { data, store: settings } = server.settings
      const store = await openStore({
        dataDir: data.dir,
        ...(settings.url !== undefined && { url: settings.url }),
        serverName: 'test',
        log: silent,
      })
      await store.write((tx) =>
        tx
          .updateTable('store_time')
          .set((eb) => ({ elapsed: eb('elapsed', '+', days * dayMs) }))
          .execute(),
      )
      await store.close()
      const { devnet } = kernel
      kernel = await startKernel(server.settings, { print: () => {}, ...(devnet && { devnet }) })
      client = createClient(kernel.url, server.settings.ssl.certsDir)
    }

    async function tx(...args: string[]): Promise<{ code: number; out: string; err: string }> {
      const given = ['--conf', server.settings.confDir, 'tx', ...args, '--url', kernel.url]
      const said = { out: '', err: '' }
      const streams = [
        [process.stdout, 'out'],
        [process.stderr, 'err'],
      ] as const
      const writes = streams.map(([stream]) => stream.write.bind(stream))
      for (const [stream, name] of streams) stream.write = (chunk: string | Uint8Array) => (said[name] += String(chunk)) !== ''
      try {
        await (await program(given)).parseAsync(['node', 'sluice', ...given])
      } finally {
        for (const [index, [stream]] of streams.entries()) stream.write = writes[index] ?? stream.write
      }
      const code = Number(process.exitCode ?? 0)
      process.exitCode = 0
      return { code, ...said }
    }

    const listed = async (query: Record<string, string>) => (await client.get('/transactions', query)).body.transactions
    const parsed = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

    it('says what is wrong with what is asked for', async () => {
      for (const [args, reason] of [
        [['prune'], 'Give --days or --before'],
        [['prune', '--days', '3', '--before', '2026-01-01'], 'Give --days or --before'],
        [['prune', '--days', '0'], '--days is "0", but must be a number from 1'],
        [['prune', '--days', 'all'], '--days is "all", but must be a number from 1'],
        [['prune', '--before', '2026-02-31'], '--before is "2026-02-31", but must be a date such as'],
        [['prune', '--before', '2099-01-01'], '--before is "2099-01-01", but must be a day ago'],
        [['export', '--from', 'March'], '--from is "March", but must be a date such as'],
        [['export', '--from', '2026-03-01', '--to', '2026-03-01'], 'is not before --to'],
        [['export', '--out', path.join(folder, 'none', 'a.ndjson')], 'cannot be written: ENOENT'],
        [['export', '--chain', 'a b'], ''],
        [['prune', '--days', '90', '--as', 'trader'], 'FORBIDDEN'],
      ] as const) {
        const { code, out, err } = await tx(...args)
        if (reason === '') continue
        expect([code, out], err).to.deep.equal([1, ''])
        expect(err)
          .to.match(/^error: /)
          .and.to.contain(reason)
      }
      expect((await client.post('/transactions/prune', { olderThanDays: 92, dryRun: true })).body.folder).to.equal('data/archive')
      expect((await client.post('/transactions/prune', { olderThanDays: 0.5 })).body).to.include({ name: 'INCOMPLETE_PARAMS' })
    })

    it('archives nothing that is not old enough, whatever a clock says', async () => {
      const { out } = await tx('prune', '--days', '92')
      expect(out).to.match(/^There was nothing to move\.\n$/)
      expect(await listed({ txHash: first.txHash })).to.have.lengthOf(1)
    })

    it('says why where the archive cannot be written, and keeps everything', async () => {
      const archive = path.join(server.settings.data.dir, 'archive')
      await writeFile(archive, '')
      const { code, err } = await tx('prune', '--days', '90')
      expect(code).to.equal(1)
      expect(err).to.match(
        /^error: The archive in data\/archive cannot be written: E.+These transactions stay in the journal\..+\(OVERLOADED, request /,
      )
      if (kind === 'embedded') {
        await kernel.services.archiver.run()
        expect((await client.get('/metrics')).text).to.match(/^sluice_archive_failing 1$/m)
      }
      expect(await listed({ txHash: first.txHash })).to.not.have.nested.property('[0].archived')
      await rm(archive)
    })

    it('counts them first, then moves them to a file of their month, and says what stays', async () => {
      const date = new Date(Date.now() - 90.3 * dayMs).toISOString()
      const would = await tx('prune', '--before', `${date.slice(0, 16)}Z`, '--dry-run')
      expect(would.out).to.match(
        /^(\d+) transactions? would be moved to .+archive on the server\.\n\d+ stays?, though old enough: the newest of each wallet/,
      )
      expect(await listed({ txHash: first.txHash })).to.not.have.nested.property('[0].archived')
      const { code, out } = await tx('prune', '--days', '90')
      expect(code, out).to.equal(0)
      expect(out.replace('moved', 'would be moved')).to.equal(would.out)
      const archive = path.join(server.settings.data.dir, 'archive')
      const [file = '', ...others] = await readdir(archive)
      expect([file, others]).to.deep.equal([`transactions-${new Date().toISOString().slice(0, 7)}.ndjson.gz`, []])
      const line = parsed(gunzipSync(await readFile(path.join(archive, file))).toString()).find(({ txHash }) => txHash === first.txHash)
      expect(line).to.include({ txState: 'CONFIRMED', kind: 'trade', idempotencyKey: 'long-ago', connector: 'uniswap' })
      expect(line.landed.receipt).to.be.an('object')
    })

    it('tells the outcome of an archived one by its hash, its key and its request, and lists it where archived ones are asked for', async () => {
      const [transaction] = await listed({ txHash: first.txHash })
      expect(transaction).to.include({ txHash: first.txHash, txState: 'CONFIRMED', final: true, archived: true, kind: 'trade' })
      expect(await listed({ idempotencyKey: 'long-ago' })).to.deep.equal([transaction])
      expect(await listed({ requestId: transaction.requestId })).to.deep.equal([transaction])
      const hashes = async (query: Record<string, string>) => (await listed(query)).map(({ txHash }: { txHash: string }) => txHash)
      expect(await hashes({ address: mine })).to.not.include(first.txHash)
      expect(await hashes({ address: mine, archived: 'true' })).to.include(first.txHash)
      expect(await hashes({ address: other, archived: 'true' })).to.not.include(first.txHash)
      const polled = await poll(first.txHash)
      expect(polled).to.include({ txState: 'CONFIRMED', final: true, archived: true, txStatus: 1, txBlock: transaction.txBlock })
      expect(polled.txReceipt).to.be.an('object')
      expect(fill).to.be.an('object')
      expect(polled.fill).to.deep.equal(fill)
      expect(transaction.fill).to.deep.equal(fill)
      expect(transaction.request).to.deep.equal({ path: '/amm/trade', fields: body })
      const { gasUsed, effectiveGasPrice } = polled.txReceipt
      expect(transaction.cost).to.include({ rawFee: (BigInt(gasUsed) * BigInt(effectiveGasPrice)).toString(), feeToken: 'ETH' })
      expect(transaction.quote.route).to.have.length.above(0)
      expect(transaction.slippage).to.have.property('quote')
      expect((await tx('show', first.txHash)).out)
        .to.match(/^ {2}state +CONFIRMED$/m)
        .and.to.match(/^ {2}archived +the server's archive/m)
      expect((await tx('show', first.txHash, '--as', 'trader')).err).to.match(/^error: The journal has no transaction/)
    })

    it('gives a repeated request its one outcome, and trades nothing', async () => {
      const count = (await listed({ archived: 'true' })).length
      const again = (request: object) => client.post('/amm/trade', request, { headers: { 'Idempotency-Key': 'long-ago' } })
      expect((await again(body)).body).to.include({ txHash: first.txHash })
      expect((await again({ ...body, amount: '0.02' })).body).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
      expect(await listed({ archived: 'true' })).to.have.lengthOf(count)
    })

    it('exports each once, archived or not, to a file or to the standard output, and no more than the certificate may see', async () => {
      const all = await listed({ archived: 'true', limit: '500' })
      const { out, err } = await tx('export')
      expect(parsed(out)).to.deep.equal(all)
      expect(err).to.equal(`${all.length} transactions exported: all that the certificate "client" may see.\n`)
      const file = path.join(folder, 'all.ndjson.gz')
      expect((await tx('export', '--out', file, '--from', '2020-01-01')).code).to.equal(0)
      expect(parsed(gunzipSync(await readFile(file)).toString())).to.deep.equal(all)
      const day = (offset: number) => new Date(Date.now() + offset * dayMs).toISOString().slice(0, 10)
      for (const args of [
        ['--from', day(1)],
        ['--to', day(-1)],
        ['--chain', 'solana'],
        ['--as', 'trader'],
      ])
        expect((await tx('export', ...args)).out, args.join(' ')).to.equal('')
      expect(parsed((await tx('export', '--from', day(-1), '--to', day(1), '--network', 'local')).out)).to.deep.equal(all)
      expect(await readdir(folder)).to.deep.equal(['all.ndjson.gz'])
    })

    it(
      kind === 'embedded' ? 'archives by itself what is older than 90 days' : 'archives nothing by itself unless store.keepDays is set',
      async () => {
        const later = await trade('now')
        await trade('newest')
        await passDays(91)
        await kernel.services.archiver.run()
        const [{ archived = false }] = await listed({ txHash: later.txHash })
        expect(archived).to.equal(kind === 'embedded')
        const metrics = (await client.get('/metrics')).text
        expect(metrics).to.match(
          kind === 'embedded' ? /^sluice_archived_transactions_total [1-9]/m : /^sluice_archived_transactions_total 0$/m,
        )
        expect(metrics).to.match(/^sluice_archive_failing 0$/m)
      },
    )
  })
}
