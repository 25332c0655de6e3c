import { expect, test, vi } from 'vitest';
import { GrowingCode } from './growing-code';

const RED = '<span class="hljs-keyword">fn</span>';

/** Returns an element of the page with code. */
function element(code: string): HTMLElement {
  const node = document.createElement('code');
  node.textContent = code;
  document.body.append(node);
  return node;
}

test('complete lines are coloured, and keep their colours while text is added', async () => {
  const code = new GrowingCode();
  const first = element('fn a() {}\nfn b');
  code.show(first, 'rust');
  expect(first.innerHTML).toBe('fn a() {}\nfn b');
  await vi.waitFor(() => expect(first.innerHTML).toContain(RED));
  expect(first.innerHTML.match(/hljs-keyword/g)).toHaveLength(1);
  expect(first.textContent).toBe('fn a() {}\nfn b');
  // The next piece draws the block anew.
  const second = element('fn a() {}\nfn b() <i>');
  code.show(second, 'rust');
  expect(second.innerHTML).toContain(RED);
  expect(second.textContent).toBe('fn a() {}\nfn b() <i>');
  expect(second.querySelector('i')).toBeNull();
});

test('another text takes over no colours', async () => {
  const code = new GrowingCode();
  const first = element('fn a() {}\n');
  code.show(first, 'rust');
  await vi.waitFor(() => expect(first.innerHTML).toContain(RED));
  const other = element('let x');
  code.show(other, 'rust');
  expect(other.innerHTML).toBe('let x');
});

test('long code and unknown languages stay plain', async () => {
  const [long, odd, fine] = [element('fn a() {}\n'.repeat(900)), element('fn a() {}\n'), element('fn a() {}\n')];
  new GrowingCode().show(long, 'rust');
  new GrowingCode().show(odd, 'klingon');
  new GrowingCode().show(fine, 'rust');
  await vi.waitFor(() => expect(fine.innerHTML).toContain(RED));
  expect(long.querySelector('span') ?? odd.querySelector('span')).toBeNull();
});
