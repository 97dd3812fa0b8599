import { win32 } from 'node:path'

/** The full path of a program of Windows. Windows would look for a bare name in the working folder first. */
export function windowsTool(name: string): string {
  const root = process.env['SystemRoot'] || 'C:\\Windows'
  return win32.join(root, 'System32', `${name}.exe`)
}
