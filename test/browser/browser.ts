import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { startGateway } from '../../src/serve/index.ts'

/** Debian's Chromium unless $CHROMIUM names another one: playwright-core installs no browser. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export const key = 'sk-a-key-that-must-not-be-seen-0123'

/** The page and gateway of a test. The object is the same for a whole file, and its members are new in each test. */
export interface Opened {
  gateway: Gateway
  page: Page
  /** Errors and warnings on the console. */
  complaints: string[]
}

/** A gateway and a browser page for each test of a file. A test fails if the page requests anything else, or logs an error. */
export function withPage(viewport = { width: 1280, height: 720 }): Opened {
  let browser: Browser
  let foreignRequests: string[] = []
  const opened = {} as Opened

  beforeAll(async () => {
    const quiet = '--disable-background-networking --disable-component-update --disable-sync'
    const args = `--no-sandbox --disable-gpu --no-first-run ${quiet}`.split(' ')
    browser = await chromium.launch({ executablePath, args })
  })

  afterAll(() => browser.close())

  beforeEach(async () => {
    const gateway = await startGateway({ key })
    const permissions = ['clipboard-read', 'clipboard-write']
    const page = await browser.newPage({ viewport, permissions })
    Object.assign(opened, { gateway, page, complaints: [] })
    foreignRequests = []
    page.on('request', (request) => {
      if (!request.url().startsWith(gateway.url)) foreignRequests.push(request.url())
    })
    page.on('console', (message) => {
      const isComplaint = message.type() === 'error' || message.type() === 'warning'
      if (isComplaint) opened.complaints.push(message.text())
    })
    page.on('pageerror', (error) => opened.complaints.push(String(error)))
  })

  afterEach(async () => {
    await opened.page.close()
    await opened.gateway.close()
    expect(foreignRequests).toEqual([])
    expect(opened.complaints).toEqual([])
  })

  return opened
}

export async function openPage({ page, gateway }: Opened): Promise<void> {
  await page.goto(gateway.url)
  await page.locator('#connection[data-state="live"]').waitFor()
}

/** The rows of the list, newest first. */
export function rows({ page }: Opened) {
  return page.locator('#rows .row')
}

/** Waits until the page lists `count` requests, all of them ended. */
export async function untilListed(opened: Opened, count: number): Promise<void> {
  await expect
    .poll(() => rows(opened).locator('.status:not(.quiet)').count(), { timeout: 20_000 })
    .toBe(count)
}

/** Opens a request, and returns what the page shows of it. */
export async function openRequest(opened: Opened, row: number) {
  await rows(opened).nth(row).click()
  const detail = opened.page.locator('#detail')
  await detail.locator('dl').waitFor()
  return detail
}
