#!/usr/bin/env node
// Runs the program from the package of this platform, with its signals and its exit status.
'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const name = `@moothall/${process.platform}-${process.arch}`
let program
try {
  program = require.resolve(`${name}/moothall`)
} catch {
  console.error(
    `moothall: the package ${name} is not installed. Either this platform is not supported (Linux on x64 is), or ` +
      'npm was told to leave out optional dependencies: install again with --include=optional.',
  )
  process.exit(1)
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
// A terminal sends these to the program too, so that handing them on would send them twice.
const byTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGQUIT'] : []
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH']) {
  process.on(signal, () => byTerminal.includes(signal) || child.kill(signal))
}
child.on('error', (error) => {
  console.error(`moothall: cannot run ${program}: ${error.message}`)
  process.exit(126)
})
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
