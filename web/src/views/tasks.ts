/** The table of tasks: a row for each phase on each executor, 100,000 of them if need be. */
import { html, named } from "../dom";
import { bytes, count, plural, seconds } from "../format";
import type { Part } from "../parts/keyed";
import { cells, SortableHead, type Order, type TableColumn } from "../parts/table";
import { VirtualRows } from "../parts/virtual";
import type { TaskFigure, Tasks } from "../report";

export interface ShownTasks {
  tasks: Tasks;
  /** Only this phase; -1 for all. */
  phase: number;
}

const kRow = 24;

/** Columns are of places in `tasks`. */
function columnsOf(tasks: Tasks): TableColumn<number>[] {
  const figure = (title: string, key: TaskFigure, format: (value: number) => string): TableColumn<number> => ({
    title,
    isNumber: true,
    value: (i) => tasks.figures[key][i]!,
    cell: (i) => format(tasks.figures[key][i]!),
  });
  return [
    {
      title: "phase",
      isHead: true,
      value: (i) => tasks.phase[i]!,
      cell: (i) => named(tasks.phaseNames[tasks.phase[i]!]!),
    },
    { title: "executor", isNumber: true, value: (i) => tasks.executor[i]!, cell: (i) => String(tasks.executor[i]) },
    { title: "host", value: (i) => tasks.host[i]!, cell: (i) => named(tasks.host[i]!) },
    figure("elapsed", "elapsed_seconds", seconds),
    figure("run", "run_seconds", seconds),
    figure("wait", "wait_seconds", seconds),
    figure("CPU", "cpu_seconds", seconds),
    figure("read", "bytes_read", bytes),
    figure("sent", "bytes_sent", bytes),
    figure("rows in", "rows_read", count),
    figure("peak memory", "peak_memory_bytes", bytes),
  ];
}

export class TaskTable implements Part<ShownTasks> {
  readonly element: HTMLElement;
  private head = new SortableHead<number>((order) => {
    this.order = order;
    this.draw();
  });
  private rows: VirtualRows;
  private places: Uint32Array = new Uint32Array();
  private columns: TableColumn<number>[] = [];
  private order: Order = { column: 0, isDescending: false };
  private value: ShownTasks | undefined;
  private status = html("p", { class: "soft" });

  constructor() {
    const table = html(
      "table",
      { class: "tasks" },
      html("caption", { class: "hidden" }, "Tasks"),
      html("thead", {}, this.head.element),
    );
    this.rows = new VirtualRows("Tasks", table, kRow, (place) =>
      html("tr", {}, ...cells(this.columns, this.places[place]!)),
    );
    this.element = html("div", {}, this.status, this.rows.scroller);
  }

  show(value: ShownTasks): void {
    if (value.tasks !== this.value?.tasks) this.columns = columnsOf(value.tasks);
    this.value = value;
    this.draw();
  }

  private draw(): void {
    const { tasks, phase } = this.value!;
    const places = Uint32Array.from({ length: tasks.count }, (_, i) => i).filter(
      (i) => phase < 0 || tasks.phase[i] === phase,
    );
    this.places = sorted(places, this.columns[this.order.column]!, this.order.isDescending);
    this.status.textContent = `${plural(places.length, "task")}: one for each phase and executor`;
    this.head.show(this.columns, this.order);
    this.rows.show(this.places.length);
  }
}

/** Ties keep the order of the document. Values are read once: there are many. */
function sorted(places: Uint32Array, column: TableColumn<number>, isDescending: boolean): Uint32Array {
  const values = Array.from(places, (i) => column.value!(i));
  const sign = isDescending ? -1 : 1;
  const order = Uint32Array.from(places.keys());
  if (typeof values[0] === "string")
    order.sort((a, b) => (values[a]! < values[b]! ? -sign : values[a]! > values[b]! ? sign : a - b));
  else {
    const numbers = values as number[];
    const isAbsent = (i: number) => Number(Number.isNaN(numbers[i]));
    order.sort((a, b) => isAbsent(a) - isAbsent(b) || (isAbsent(a) ? 0 : sign * (numbers[a]! - numbers[b]!)) || a - b);
  }
  return order.map((place) => places[place]!);
}
