import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import path from 'node:path'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'

export interface TakenMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
  readonly user?: string
}

/** A server that takes mail as RFC 5321 has it, or does it wrong. */
export interface TestMailServer {
  readonly port: number
  readonly mails: readonly TakenMail[]
  /** Every line that clients sent. */
  readonly lines: readonly string[]
  /** Answers of its own to commands, by their first word or whole; undefined: none at all. */
  readonly answers: Map<string, string | undefined>
  close(): Promise<void>
}

interface MailOptions {
  readonly security: 'tls' | 'starttls' | 'none'
  /** Has the server's key and certificate. */
  readonly certsDir: string
}

export async function startMailServer({ security, certsDir }: MailOptions): Promise<TestMailServer> {
  const pair = {
    key: readFileSync(path.join(certsDir, 'server_key.pem')),
    cert: readFileSync(path.join(certsDir, 'server_cert.pem')),
  }
  const mails: TakenMail[] = []
  const lines: string[] = []
  const answers = new Map<string, string | undefined>()
  const sockets = new Set<Socket>()

  function serve(socket: Socket, isGreeted = false): void {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let [text, data, isData] = ['', '', false]
    let mail = { from: '', to: [] as string[] }
    let user: string | undefined
    const say = (line: string) => void socket.write(`${line}\r\n`)
    if (!isGreeted) say('220 here')
    const onData = (chunk: Buffer): void => {
      text += chunk.toString()
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        lines.push(line)
        if (isData) {
          if (line !== '.') data += `${line}\n`
          else {
            isData = false
            mails.push({ ...mail, text: data, ...(user !== undefined && { user }) })
            say('250 taken')
          }
          continue
        }
        const [word = ''] = line.split(/[ :]/)
        const isEncrypted = socket instanceof TLSSocket
        if (word === 'STARTTLS' && security === 'starttls' && !isEncrypted) {
          say(answers.get(word) ?? '220 go on')
          socket.off('data', onData)
          serve(new TLSSocket(socket, { isServer: true, ...pair }), true)
          return
        }
        const command = answers.has(line) ? line : word
        if (answers.has(command)) {
          const answer = answers.get(command)
          if (answer !== undefined) say(answer)
        } else if (word === 'EHLO')
          say(`250-here\r\n${security === 'starttls' && !isEncrypted ? '250-STARTTLS\r\n' : ''}250-AUTH PLAIN LOGIN\r\n250 8BITMIME`)
        else if (word === 'AUTH') {
          user = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString()
          say('235 welcome')
        } else if (word === 'MAIL') {
          mail = { from: line, to: [] }
          data = ''
          say('250 ok')
        } else if (word === 'RCPT') {
          mail.to.push(line)
          say('250 ok')
        } else if (word === 'DATA') {
          isData = true
          say('354 go on')
        } else say(word === 'QUIT' ? '221 bye' : '502 no')
      }
    }
    socket.on('data', onData)
  }

  const server = security === 'tls' ? createTlsServer(pair, serve) : createServer((socket) => serve(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    lines,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
