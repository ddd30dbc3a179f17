/** Makes elements. Data only ever become text or attributes, never markup. */

export type Child = Node | string | null | undefined | false;
type Attribute = string | number | boolean | null | undefined | ((event: any) => void);
export type Attributes = Record<string, Attribute>;

const kSvg = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export function html<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]) {
  return fill(document.createElementNS(kSvg, tag), attributes, children);
}

/** Writes a text where it is another: what stays keeps its selection, and costs the browser nothing. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** At most `length` characters, which count as people see them. */
export function short(text: string, length = 40): string {
  if (text.length <= length) return text;
  return `${Array.from(text.slice(0, 2 * length))
    .slice(0, length - 1)
    .join("")}…`;
}

/** A name out of the data: cut by the style where it is too long, and apart from the direction of the text around it. */
export function named(text: string, classes = ""): HTMLElement {
  return html(
    "bdi",
    { class: `name ${classes}`.trim(), title: text.length > 24 ? short(text, 300) : null },
    short(text, 1000) || "(no name)",
  );
}

/** Offers `content` as a file. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A name for files. */
export const fileName = (title: string, ending: string) =>
  `${
    short(
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "-")
        .replace(/^-|-$/g, ""),
      60,
    ).replace("…", "") || "chart"
  }.${ending}`;
