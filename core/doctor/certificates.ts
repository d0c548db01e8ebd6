import type { Settings } from '../config/index.ts'
import { CertificateError, listClients, readServerCertificates } from '../tls/index.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000
const soonDays = 30
const part = 'certificates'

export async function examineCertificates({ ssl: { certsDir } }: Settings): Promise<Finding[]> {
  try {
    const { serverValidTo, caValidTo } = await readServerCertificates(certsDir)
    const clients = await listClients(certsDir)
    return [
      expiry('The server certificate', serverValidTo, 'bin/sluice certs renew server'),
      expiry('The certificate authority', caValidTo, 'rm -r the certs folder, start once, and give every bot its new certificate'),
      ...clients
        .filter(({ state, certificate }) => state === 'valid' && certificate)
        .map(({ certificate }) => expiry(`The client certificate "${certificate?.name}"`, certificate?.validTo ?? new Date(0), `bin/sluice certs renew ${certificate?.name}`)),
    ]
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error
    return [{ part, state: 'bad', what: error.message, cure: `Certificates are made at the first start in ${certsDir} (certsDir in conf/ssl.yml).` }]
  }
}

function expiry(what: string, validTo: Date, renew: string): Finding {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs)
  const date = validTo.toISOString().slice(0, 10)
  if (days < 0) return { part, state: 'bad', what: `${what} expired on ${date}.`, cure: `Run \`${renew}\`.` }
  if (days < soonDays) return { part, state: 'warn', what: `${what} expires in ${days} days, on ${date}.`, cure: `Run \`${renew}\`.` }
  return { part, state: 'good', what: `${what} is valid until ${date}.` }
}
