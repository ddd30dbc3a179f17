/** All farms in a table: sorted by its heads, narrowed by a search, one of them chosen. Thousands scroll well. */
import { html, short, write } from "../dom";
import { fixed, plural } from "../format";
import { search, toolbar } from "../parts/controls";
import type { Part } from "../parts/keyed";
import { compare, SortableHead, type Order, type TableColumn } from "../parts/table";
import { VirtualRows } from "../parts/virtual";
import { barKey, FarmBar, lengthOf } from "./bar";
import { isBelowGuarantee, keyOf, pathOf, type Farm } from "./farms";

const kRow = 28;

const figure = (title: string, of: (farm: Farm) => number | undefined, hint: string): TableColumn<Farm> => ({
  title,
  isNumber: true,
  value: (farm) => of(farm) ?? NaN,
  cell: (farm) => fixed(of(farm), 0),
  hint,
});

/** The first names the farm, the second has its bar. */
const kColumns: TableColumn<Farm>[] = [
  { title: "farm", isHead: true, value: keyOf, cell: keyOf },
  { title: "executors", cell: () => "" },
  figure("guaranteed", ({ guaranteed }) => guaranteed, "executors that the farm has whenever it wants them"),
  figure("wanted", ({ wanted }) => wanted, "executors that the farm asks for"),
  figure("running", ({ status }) => status?.running, "executors on a node"),
  figure("borrowed", ({ status }) => status?.over_guarantee, "of the running ones, those above the guarantee"),
  figure("pending", ({ status }) => status?.pending, "wanted, and not on a node"),
  figure("ending", ({ status }) => status?.terminating, "asked to save their work and end"),
];
const kFigures = kColumns.slice(2);
const kPending = kFigures.findIndex(({ title }) => title === "pending");

/** The address of a farm's part of the page. */
export const addressOf = (farm: Farm) => `#farm=${pathOf(farm)}`;

interface ShownFarm {
  farm: Farm;
  isChosen: boolean;
  longest: number;
}

/** It stays while its farm changes, so that it keeps focus, and clicks that have begun. */
class FarmRow implements Part<ShownFarm> {
  readonly link = html("a", { class: "name", tabindex: -1, dir: "auto" });
  private figures = kFigures.map(() => html("td", { class: "number" }));
  private bar = new FarmBar();
  readonly element = html(
    "tr",
    { onclick: (event: Event) => event.target !== this.link && this.link.click() },
    html("th", { scope: "row" }, this.link),
    html("td", {}, this.bar.element),
    ...this.figures,
  );

  show({ farm, isChosen, longest }: ShownFarm): void {
    const key = keyOf(farm);
    write(this.link, short(key, 1000));
    const address = addressOf(farm);
    if (this.link.getAttribute("href") !== address) this.link.setAttribute("href", address);
    const title = key.length > 24 ? short(key, 300) : "";
    if (this.link.title !== title) this.link.title = title;
    this.figures.forEach((cell, i) => write(cell, kFigures[i]!.cell(farm) as string));
    const isBelow = isBelowGuarantee(farm);
    this.figures[kPending]!.classList.toggle("alarm", isBelow);
    this.figures[kPending]!.title = isBelow ? "below its guarantee" : "";
    this.bar.show(farm, longest);
    if (isChosen) this.link.setAttribute("aria-current", "true");
    else this.link.removeAttribute("aria-current");
    this.element.classList.toggle("chosen", isChosen);
    this.link.tabIndex = isChosen ? 0 : -1;
  }
}

export class FarmTable {
  readonly element: HTMLElement;
  private head = new SortableHead<Farm>((order) => {
    this.order = order;
    this.draw();
  });
  private rows: VirtualRows;
  private made = new Map<string, FarmRow>();
  private all: Farm[] = [];
  private shown: Farm[] = [];
  private chosen = "";
  private text = "";
  private order: Order = { column: 0, isDescending: false };
  private longest = 1;
  private status = html("span", { class: "soft", role: "status" });

  /** `choose` is called when another farm is chosen by arrow keys. */
  constructor(private choose: (farm: Farm) => void) {
    const table = html(
      "table",
      { class: "farms" },
      html("caption", { class: "hidden" }, "Farms. Arrow keys choose another one."),
      html("thead", {}, this.head.element),
    );
    this.rows = new VirtualRows("Farms", table, kRow, (place) => this.rowOf(this.shown[place]!).element);
    this.rows.scroller.addEventListener("keydown", (event) => this.step(event));
    this.element = html(
      "div",
      { class: "allfarms" },
      toolbar(
        search("Search farms", (text) => ((this.text = text), this.draw())),
        this.status,
      ),
      this.rows.scroller,
      barKey(),
    );
  }

  show(farms: Farm[], chosen: string): void {
    this.all = farms;
    this.chosen = chosen;
    this.draw();
  }

  private draw(): void {
    const { value } = kColumns[this.order.column]!;
    this.shown = this.all
      .filter((farm) => keyOf(farm).toLowerCase().includes(this.text))
      .sort((a, b) => compare(value!(a), value!(b), this.order.isDescending));
    this.longest = Math.max(1, ...this.all.map(lengthOf));
    this.head.show(kColumns, this.order);
    const there = new Set(this.shown.map(keyOf));
    for (const key of this.made.keys()) if (!there.has(key)) this.made.delete(key);
    const focused = document.activeElement;
    const hadFocus = this.rows.scroller.contains(focused);
    this.rows.show(this.shown.length);
    if (hadFocus && focused !== document.activeElement) {
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
      else this.rows.scroller.focus({ preventScroll: true });
    }
    write(this.status, this.text ? `${plural(this.shown.length, "farm")} found` : "");
  }

  private rowOf(farm: Farm): FarmRow {
    const key = keyOf(farm);
    const row = this.made.get(key) ?? new FarmRow();
    this.made.set(key, row);
    row.show({ farm, isChosen: key === this.chosen, longest: this.longest });
    return row;
  }

  /** Arrow keys choose the farm above or below. */
  private step(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
    if (step === undefined || !isPlain || !this.shown.length || this.head.element.contains(event.target as Node)) return;
    event.preventDefault();
    const now = this.shown.findIndex((farm) => keyOf(farm) === this.chosen);
    const place = now < 0 ? 0 : Math.max(0, Math.min(this.shown.length - 1, now + step));
    const farm = this.shown[place]!;
    this.choose(farm);
    this.rows.reveal(place);
    this.made.get(keyOf(farm))?.link.focus({ preventScroll: true });
  }
}
