// Views are functions from what is known to elements; this makes elements, and moves the page to what a view wants with
// as few changes as it takes, so that focus, scrolling and what is typed stay. Knows nothing of orders.

type Child = Node | string | number | null | false;
type Handler = (event: Event) => void;
interface Props {
  readonly class?: string | undefined;
  /** The element stays the same one as long as its key does. */
  readonly key?: string | undefined;
  readonly click?: Handler | undefined;
  readonly change?: Handler | undefined;
  /** For inputs; a view that leaves it out leaves it to the user. */
  readonly checked?: boolean | undefined;
  /** Anything else is an attribute: `true` is there without a value, `false` and undefined are not there. */
  readonly [attribute: string]: string | number | boolean | Handler | undefined;
}

const NOT_ATTRIBUTES = new Set(["key", "click", "change", "checked"]);

const TYPES = ["click", "change"] as const;
/** Beside the elements, so that they can be moved over like everything else. */
const handlers = new WeakMap<EventTarget, Pick<Props, (typeof TYPES)[number]>>();
for (const type of TYPES) {
  document.addEventListener(type, (event) => {
    for (const target of event.composedPath()) handlers.get(target)?.[type]?.(event);
  });
}

export function h(tag: string, props: Props = {}, ...children: readonly Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (NOT_ATTRIBUTES.has(name) || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  if (props.key !== undefined) element.dataset["key"] = props.key;
  handlers.set(element, { click: props.click, change: props.change });
  if (props.checked !== undefined && element instanceof HTMLInputElement) element.defaultChecked = props.checked;
  element.append(...children.filter((child) => child !== null && child !== false).map(asNode));
  return element;
}

const asNode = (child: Node | string | number): Node | string => (typeof child === "number" ? String(child) : child);

/** Makes the children of an element what a view wants. */
export function show(place: Element, ...children: readonly Child[]): void {
  const wanted = document.createElement("div");
  wanted.append(...children.filter((child) => child !== null && child !== false).map(asNode));
  morphChildren(place, wanted);
}

const keyOf = (node: Node): string | null => (node instanceof HTMLElement ? (node.dataset["key"] ?? null) : null);
const alike = (a: Node, b: Node): boolean => a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function morphChildren(from: Element, to: Element): void {
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    let match = at;
    while (match !== null && !alike(match, wanted)) match = match.nextSibling;
    // Without a key only the next one will do: any other would be a stranger.
    if (match !== at && keyOf(wanted) === null) match = null;
    if (match === null) {
      from.insertBefore(wanted, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else from.insertBefore(match, at);
    morph(match, wanted);
  }
  while (at !== null) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function morph(from: Node, to: Node): void {
  if (!(from instanceof HTMLElement) || !(to instanceof HTMLElement)) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) === value) continue;
    // As an attribute, the page's policy would refuse it.
    if (name === "style") from.style.cssText = to.style.cssText;
    else from.setAttribute(name, value);
  }
  handlers.set(from, handlers.get(to) ?? {});
  if (from instanceof HTMLInputElement && to instanceof HTMLInputElement) from.checked = to.defaultChecked;
  morphChildren(from, to);
}

/** The element with an id; the page has it, or the page is another one. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
