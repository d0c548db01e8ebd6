import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { command } from '../base/layout.ts'
import { caKeyIsEncrypted } from '../tls/authority.ts'
import { CertificateError, certificateFiles, pairFiles, readCertificateFile } from '../tls/certificate-files.ts'
import { ensureCertificates, serverNames } from '../tls/ensure-certificates.ts'
import { addServerNames, NameTakenError, newClient, renew, type NewCertificate, revoke } from '../tls/certificates.ts'
import { openClientFolder } from '../tls/client-folder.ts'
import { listClients, type ClientCertificate } from '../tls/issued-certificates.ts'
import { askHidden, hasTerminal } from '../base/terminal.ts'
import { printResult } from './output.ts'

interface CaOptions {
  caPassphraseFile?: string
}

interface NewOptions extends CaOptions {
  browser?: true
  hummingbot?: string
  encryptKey?: true
  keyPassphraseFile?: string
  host?: string[]
}

/** `sluice certs init|new|list|renew|revoke`: manages who passes the TLS handshake. A running server applies every change at once. */
export function certsCommand(getCertsDir: () => string | Promise<string>): Command {
  const certs = new Command('certs').description('the certificates of the server and its clients')

  caPassphraseOption(certs.command('init'))
    .description('make CA, server and first client certificate, as the first start does by itself')
    .option('--host <names...>', "names and addresses of the server besides this machine's own")
    .option('--encrypt-ca-key', "encrypt the CA's key with a passphrase, asked for at the terminal")
    .action((options: CaOptions & { host?: string[]; encryptCaKey?: true }) => printLines(async () => init(await getCertsDir(), options)))

  caPassphraseOption(certs.command('new'))
    .description('make a certificate and key for a client')
    .argument('<client>', 'its name: letters, digits, dots, dashes and underscores')
    .option('--browser', 'write it also as a file that browsers import (PKCS #12), encrypted with a password, asked for at the terminal')
    .option('--hummingbot <folder>', 'write it also by the names that Hummingbot looks for into this folder, which must not have them yet')
    .option('--encrypt-key', "encrypt the key in that folder with the client's login password, asked for at the terminal")
    .option('--key-passphrase-file <file>', 'a file with the password of the browser file, or of that key')
    .option('--host <names...>', 'names and addresses by which the client finds the server: its certificate is renewed where it lacks one')
    .action((client: string, options: NewOptions) => printLines(async () => makeNew(await getCertsDir(), client, options)))

  certs
    .command('list')
    .description('show every client certificate: valid, expired or revoked')
    .action(() => printLines(async () => (await listClients(await getCertsDir())).flatMap(describe)))

  caPassphraseOption(certs.command('renew'))
    .description('make a new key and certificate for the server or a client, under the same name')
    .argument('<server|client>', '"server", "client" (the one made in set-up) or the name of a client')
    .option('--host <names...>', "for the server: names and addresses besides this machine's own (default: those it has)")
    .addHelpText(
      'after',
      "\nA client's old certificate stays valid until it expires, so that the bot runs on until it has the new files.\nIf the old key may be in wrong hands, revoke first, then renew: that cuts the bot off until it has the new files.",
    )
    .action((name: string, options: CaOptions & { host?: string[] }) =>
      printLines(async () => {
        const certsDir = await getCertsDir()
        const made = await renew(certsDir, name, {
          ...(await caAccess(certsDir, options)),
          ...(options.host ? { hostnames: options.host } : {}),
        })
        if (name === 'server')
          return [
            `Renewed the server certificate, valid until ${day(made.validTo)}. A running server uses it at once.`,
            `  ${made.certFile}`,
            `  ${made.keyFile}`,
          ]
        return [
          `Renewed the certificate of the client "${name}", valid until ${day(made.validTo)}.`,
          ...whatToCopy(certsDir, made),
          await whatOfEarlier(certsDir, name, made.serialNumber),
          'Permissions by name in conf/clients.yml go on; those by fingerprint need the new one.',
        ]
      }),
    )

  caPassphraseOption(certs.command('revoke'))
    .description('refuse a client from now on, and cut its open connections')
    .argument('<client>', 'the name (all its certificates), or the serial number or fingerprint of one certificate')
    .action((which: string, options: CaOptions) =>
      printLines(async () => {
        const certsDir = await getCertsDir()
        const { revoked, before } = await revoke(certsDir, which, await caAccess(certsDir, options))
        if (revoked.length === 0)
          return [`Nothing to do: "${which}" was revoked on ${[...new Set(before.map((client) => day(client.revokedAt)))].join(', ')}.`]
        return ['Revoked:', ...revoked.flatMap(describe), 'A running server refuses it within seconds, and cuts its open connections.']
      }),
    )

  return certs
}

function caPassphraseOption(command: Command): Command {
  return command.option(
    '--ca-passphrase-file <file>',
    "a file with the passphrase of the CA's key (default: asked for at the terminal when the key is encrypted)",
  )
}

async function init(certsDir: string, options: CaOptions & { host?: string[]; encryptCaKey?: true }): Promise<string[]> {
  const caPassphrase =
    options.caPassphraseFile !== undefined
      ? await fromFile(options.caPassphraseFile)
      : options.encryptCaKey
        ? await askTwice("New passphrase for the CA's key: ", '--ca-passphrase-file')
        : undefined
  const { made } = await ensureCertificates({
    certsDir,
    ...(options.host ? { hostnames: options.host } : {}),
    ...(caPassphrase === undefined ? {} : { caPassphrase }),
  })
  if (!made)
    throw new CertificateError(
      `The certificates are there already, in ${certsDir}; nothing was changed. "${command} certs renew server" makes a new server certificate.`,
    )
  const files = certificateFiles(certsDir)
  return [
    `Made the certificates in ${certsDir}.`,
    `  ${files.caCert}      what clients trust the server by`,
    `  ${files.caKey}       signs certificates${caPassphrase === undefined ? '; not encrypted' : '; encrypted'}. The server does not need it: keep it elsewhere if you like`,
    `  ${files.clientCert}  the first client, with`,
    `  ${files.clientKey}   its key: keep it secret`,
  ]
}

async function makeNew(certsDir: string, client: string, options: NewOptions): Promise<string[]> {
  const { hummingbot, host, browser } = options
  if (browser && hummingbot !== undefined)
    throw new CertificateError('A browser and a bot have a certificate each: give --browser or --hummingbot, not both.')
  if (hummingbot === undefined && options.encryptKey)
    throw new CertificateError('--encrypt-key is for the key in the folder of --hummingbot: name it, too.')
  if (hummingbot === undefined && !browser && options.keyPassphraseFile !== undefined)
    throw new CertificateError(
      '--key-passphrase-file is for --browser, or for the key in the folder of --hummingbot: give one of them, too.',
    )
  // A wrong name is refused before anything is made.
  serverNames(host)
  const file = browserFile(pairFiles(certsDir, client))
  if (browser && existsSync(file)) throw new CertificateError(`${file} is there already: move it away, or choose another name.`)
  const access = await caAccess(certsDir, options)
  const keyPassphrase = await keyPassphraseOf(options)
  const folder = hummingbot === undefined ? undefined : await openClientFolder(hummingbot)
  let made: NewCertificate
  try {
    made = await newClient(certsDir, client, access)
  } catch (error) {
    await folder?.discard()
    throw hummingbot !== undefined && error instanceof NameTakenError ? takenFor(hummingbot, certsDir, error.taken) : error
  }
  await folder?.fill(certsDir, made, keyPassphrase)
  if (browser && keyPassphrase !== undefined) await writeBrowserFile(certsDir, made, keyPassphrase)
  const added = host && (await addServerNames(certsDir, host, access))
  return [
    `Made a certificate for the client "${client}", valid until ${day(made.validTo)}.`,
    ...(browser
      ? whatToImport(certsDir, made)
      : hummingbot === undefined
        ? whatToCopy(certsDir, made)
        : whatIsThere(hummingbot, made, keyPassphrase)),
    ...(added ? ["Renewed the server's certificate, which lacked some of the names. A running server uses it at once."] : []),
    'conf/clients.yml says what it may do, by this name or by the fingerprint. Where it does not, it may read market data only.',
  ]
}

/** A bot whose client has a certificate takes that one. */
function takenFor(folder: string, certsDir: string, taken: string): CertificateError {
  const { certFile, keyFile } = pairFiles(certsDir, taken)
  const own = certificateFiles(folder)
  return new CertificateError(
    `There is already a client "${taken}", and nothing was made: choose another name, or copy its files, ${certFile} to ${own.clientCert}, ${keyFile} to ${own.clientKey}, and ${certificateFiles(certsDir).caCert} to ${own.caCert}. "${command} certs renew ${taken}" makes them anew.`,
  )
}

function whatIsThere(folder: string, made: NewCertificate, keyPassphrase: string | undefined): string[] {
  const { caCert, clientCert, clientKey } = certificateFiles(folder)
  return [
    "The client's folder has",
    `  ${caCert}`,
    `  ${clientCert}`,
    `  ${clientKey}  (secret${keyPassphrase === undefined ? '' : '; encrypted'})`,
    `The same certificate and key, not encrypted, stay in ${made.certFile} and ${made.keyFile}.`,
    `Fingerprint: ${made.fingerprint256}`,
    `Serial number: ${made.serialNumber}`,
  ]
}

/** The name that every list of certificates shows, however many servers one has. */
async function writeBrowserFile(certsDir: string, made: NewCertificate, password: string): Promise<void> {
  const [certificate, key, authority] = await Promise.all(
    [made.certFile, made.keyFile, certificateFiles(certsDir).caCert].map(readCertificateFile),
  )
  if (certificate === undefined || key === undefined || authority === undefined)
    throw new CertificateError('The certificate is gone again.')
  const { makePkcs12 } = await import('../tls/pkcs12.ts')
  await writeFile(browserFile(made), makePkcs12({ certificate, key, authority, name: `Sluice (${made.name})`, password }), {
    mode: 0o600,
    flag: 'wx',
  })
}

const browserFile = ({ certFile }: Pick<NewCertificate, 'certFile'>): string => certFile.replace(/_cert\.pem$/, '.p12')

function whatToImport(certsDir: string, made: NewCertificate): string[] {
  const [file, authority] = [browserFile(made), certificateFiles(certsDir).caCert]
  return [
    'Import these two, and remove the first one afterwards:',
    `  ${file}  (secret; with the password)`,
    `  ${authority}  (as an authority that identifies websites)`,
    'Firefox: Settings, Privacy & Security, View Certificates: "Your Certificates", import the first; "Authorities", import the second.',
    'Chrome on Linux: chrome://certificate-manager, "Your certificates", import the first. The second:',
    '  certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n "Sluice CA" -i <file>  (package libnss3-tools)',
    'Windows: open the first, for the current user. The second: certutil -user -addstore Root <file>',
    'macOS: open both, keychain "login"; then the second: Trust, Always Trust.',
    'iOS: open both (the second named .crt), install the profiles; then Settings, General, About, Certificate Trust Settings.',
    'Android: Settings, Security, Encryption & credentials, install a certificate: "VPN & app user certificate" and "CA certificate".',
    'docs/operators/security.md has each step. Close the browser and open it again after that.',
    `Every list shows it as "Sluice (${made.name})".`,
    `The same certificate and key, not encrypted, stay in ${made.certFile} and ${path.basename(made.keyFile)} beside it.`,
    `Fingerprint: ${made.fingerprint256}`,
    `Serial number: ${made.serialNumber}`,
  ]
}

function whatToCopy(certsDir: string, made: NewCertificate): string[] {
  return [
    'Copy these three files to the bot, and no others:',
    `  ${made.certFile}`,
    `  ${made.keyFile}  (secret)`,
    `  ${certificateFiles(certsDir).caCert}`,
    `Fingerprint: ${made.fingerprint256}`,
    `Serial number: ${made.serialNumber}`,
  ]
}

async function whatOfEarlier(certsDir: string, name: string, serialNumber: string): Promise<string> {
  const earlier = (await listClients(certsDir)).filter((each) => each.certificate?.name === name && each.serialNumber !== serialNumber)
  return earlier.some(({ state }) => state === 'valid')
    ? `The certificate before it stays valid until it expires or is revoked, by its serial number in "${command} certs list".`
    : 'No certificate before it is valid any more.'
}

function describe({ state, revokedAt, serialNumber, certificate }: ClientCertificate): string[] {
  const since = revokedAt ? ` ${day(revokedAt)}` : ''
  if (certificate === undefined) return ['(certificate no longer here)', `  ${state}${since}`, `  serial number ${serialNumber}`]
  const { name, validFrom, validTo, fingerprint256 } = certificate
  return [
    name,
    `  ${state}${since}, made for ${day(validFrom)} to ${day(validTo)}`,
    `  serial number ${serialNumber}`,
    `  fingerprint ${fingerprint256}`,
  ]
}

async function caAccess(certsDir: string, { caPassphraseFile }: CaOptions): Promise<{ caPassphrase?: string }> {
  if (caPassphraseFile !== undefined) return { caPassphrase: await fromFile(caPassphraseFile) }
  if (!(await caKeyIsEncrypted(certsDir))) return {}
  if (!hasTerminal())
    throw new CertificateError(
      "The CA's key is encrypted and there is no terminal to ask at: write the passphrase into a file (mode 600) and give --ca-passphrase-file.",
    )
  return { caPassphrase: await askHidden("Passphrase of the CA's key: ") }
}

async function keyPassphraseOf({ browser, encryptKey, keyPassphraseFile }: NewOptions): Promise<string | undefined> {
  if (keyPassphraseFile !== undefined) return fromFile(keyPassphraseFile, '--key-passphrase-file')
  if (browser) return askTwice('New password of the browser file: ', '--key-passphrase-file')
  return encryptKey ? askTwice("The client's login password: ", '--key-passphrase-file') : undefined
}

async function fromFile(file: string, option = '--ca-passphrase-file'): Promise<string> {
  let passphrase: string
  try {
    passphrase = (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (cause) {
    throw new CertificateError(`${option}: ${file} cannot be read; correct its name or mode.`, { cause })
  }
  if (passphrase === '') throw new CertificateError(`${option}: ${file} is empty; write the passphrase into it.`)
  return passphrase
}

async function askTwice(question: string, option: string): Promise<string> {
  if (!hasTerminal()) throw new CertificateError(`There is no terminal to ask for the passphrase at: give ${option}.`)
  const passphrase = await askHidden(question)
  if (passphrase === '') throw new CertificateError('An empty passphrase protects nothing; nothing was made.')
  if ((await askHidden('The same again: ')) !== passphrase) throw new CertificateError('The two do not match; nothing was made.')
  return passphrase
}

const printLines = (command: () => Promise<string[]>): Promise<void> => printResult(async () => (await command()).join('\n'))

function day(date: Date | undefined): string {
  return date?.toISOString().slice(0, 10) ?? ''
}
