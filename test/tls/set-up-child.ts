// Makes the certificates of a folder and says what it made, for tests that kill it: set-up-child.ts <folder>
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'

const [certsDir = ''] = process.argv.slice(2)
console.log(JSON.stringify(await ensureCertificates({ certsDir })))
