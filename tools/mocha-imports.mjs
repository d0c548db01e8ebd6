// Loaded before mocha, by `mocha` in package.json: unlike .mocharc.json, mocha does not read that for a plugin that is written in the checkout.
// Test files are ES modules in TypeScript: mocha must import them. Where it can, it calls require() first, and when an import is missing it
// reports what require() said of the TypeScript: a syntax error in another file. This makes mocha import the file and report the error of the
// import, which names the missing file.
import Module from 'node:module'
import 'tsx/esm'

Object.defineProperty(process.features, 'require_module', { value: false })
Module._extensions['.ts'] = (_module, file) => {
  throw Object.assign(new Error(`${file} is an ES module`), { code: 'ERR_REQUIRE_ESM' })
}
