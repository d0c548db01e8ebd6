import { existsSync } from 'node:fs'
import type { Settings } from '../config/settings.ts'
import { CertificateError } from '../tls/certificate-error.ts'
import { certificateFiles } from '../tls/certificate-files.ts'
import { listClients } from '../tls/list-clients.ts'
import { readServerCertificates } from '../tls/server-certificates.ts'
import type { Finding } from './finding.ts'

const dayMs = 86_400_000
const soonDays = 30
const part = 'certificates'
const renewAuthority = 'Move the certs folder away, run `bin/sluice certs init`, and give every bot its new certificate.'

export async function examineCertificates({ ssl: { certsDir } }: Settings): Promise<Finding[]> {
  if (!existsSync(certificateFiles(certsDir).caCert)) {
    return [
      {
        part,
        state: 'warn',
        what: `There are none in ${certsDir} yet.`,
        cure: 'The first start makes them; `bin/sluice certs init` does so now.',
      },
    ]
  }
  try {
    const { serverValidTo, caValidTo } = await readServerCertificates(certsDir)
    const clients = await listClients(certsDir)
    return [
      expiry('The server certificate', serverValidTo, 'Run `bin/sluice certs renew server`.'),
      expiry('The certificate authority', caValidTo, renewAuthority),
      ...clients.flatMap(({ state, certificate }) =>
        state === 'valid' && certificate
          ? [
              expiry(
                `The client certificate "${certificate.name}"`,
                certificate.validTo,
                `Run \`bin/sluice certs renew ${certificate.name}\`.`,
              ),
            ]
          : [],
      ),
    ]
  } catch (error) {
    // Its message says what to do.
    if (error instanceof CertificateError) return [{ part, state: 'bad', what: error.message }]
    throw error
  }
}

function expiry(what: string, validTo: Date, cure: string): Finding {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs)
  const date = validTo.toISOString().slice(0, 10)
  if (days < 0) return { part, state: 'bad', what: `${what} expired on ${date}.`, cure }
  if (days < soonDays) return { part, state: 'warn', what: `${what} expires in ${days} days, on ${date}.`, cure }
  return { part, state: 'good', what: `${what} is valid until ${date}.` }
}
