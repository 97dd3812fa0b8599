import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Gateway } from '../../src/serve/index.ts'
import { startGateway } from '../../src/serve/index.ts'

/** Debian's, unless said: playwright-core brings no browser of its own. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

export const key = 'sk-a-key-that-must-not-be-seen-0123'

/** What a test works with; the same for all of a file, new for each test. */
export interface Opened {
  gateway: Gateway
  page: Page
  /** What the browser said on its console. */
  complaints: string[]
}

/** A gateway and its page for each test of a file. The page may ask nobody else, and complain of nothing. */
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
      const isOwn = request.url().startsWith(gateway.url) || request.url().startsWith('blob:')
      if (!isOwn) foreignRequests.push(request.url())
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
  await page.locator('#live[data-on="true"]').waitFor()
}

/** The rows that can be seen. */
export function rows({ page }: Opened) {
  return page.locator('.row:visible')
}

/** Waits until the page has so many requests with their bodies. */
export async function untilRead(opened: Opened, count: number): Promise<void> {
  await expect
    .poll(() => opened.page.locator('.row .status:not(.quiet)').count(), { timeout: 20_000 })
    .toBe(count)
  await opened.page.waitForLoadState('networkidle').catch(() => {})
}

/** The words of a row: what was asked, what was answered. */
export function wordsOf(opened: Opened, row: number): Promise<string[]> {
  return rows(opened).nth(row).locator('.what > span').allTextContents()
}

/** Opens every part of the panel, and what stands in them. */
export async function openAllFolds({ page }: Opened): Promise<void> {
  const shut = page.locator('#panel .fold:not([open]) > summary:visible')
  while ((await shut.count()) > 0) await shut.first().click()
}
