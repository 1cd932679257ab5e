//! Small plots as SVG: sizes to the right, each ten times the one before; values upwards from zero.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 220.0;
/// Room for what is written around a plot.
const LEFT: f64 = 48.0;
const TOP: f64 = 28.0;
const BELOW: f64 = 40.0;
/// Half of the last label.
const RIGHT: f64 = 20.0;
const LINE: f64 = 16.0;
/// Readable on light and on dark, and by people who see few colours.
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a8a8a"];

/// Values of several operations by size.
pub(crate) struct Plot {
    sizes: &'static str,
    values: &'static str,
    lines: BTreeMap<&'static str, Vec<(f64, f64)>>,
}

impl Plot {
    pub(crate) fn new(sizes: &'static str, values: &'static str) -> Self {
        Plot { sizes, values, lines: BTreeMap::new() }
    }

    pub(crate) fn point(&mut self, line: &'static str, size: u64, value: f64) {
        self.lines.entry(line).or_default().push(((size as f64).log10(), value));
    }

    fn draw(&self, left: f64, svg: &mut String) -> std::fmt::Result {
        let points = || self.lines.values().flatten();
        let (first, last) = points().fold((f64::MAX, f64::MIN), |(low, high), (at, _)| (low.min(*at), high.max(*at)));
        let most = points().map(|(_, value)| *value).fold(0.0, f64::max).max(1.0) * 1.1;
        let x = |at: f64| left + LEFT + (at - first) / (last - first).max(1.0) * (WIDTH - LEFT - 24.0);
        let y = |value: f64| TOP + (1.0 - value / most) * HEIGHT;
        let text = |svg: &mut String, x: f64, y: f64, anchor: &str, text: &str| {
            writeln!(svg, r##"<text x="{x:.0}" y="{y:.0}" text-anchor="{anchor}">{text}</text>"##)
        };
        let (begin, end) = (x(first), x(last));
        text(svg, begin, TOP - 12.0, "start", self.values)?;
        for value in [0.0, most / 2.0, most] {
            let at = y(value);
            writeln!(svg, r##"<path d="M{begin:.0} {at:.0}H{end:.0}" stroke="#888" stroke-opacity=".4"/>"##)?;
            text(svg, begin - 6.0, at + 4.0, "end", &format!("{value:.0}"))?;
        }
        let mut sizes: Vec<f64> = points().map(|(at, _)| *at).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        for at in sizes {
            text(svg, x(at), TOP + HEIGHT + 16.0, "middle", &format!("{:.0}", 10_f64.powf(at)))?;
        }
        text(svg, f64::midpoint(begin, end), TOP + HEIGHT + 34.0, "middle", self.sizes)?;
        for ((name, values), (colour, row)) in self.lines.iter().zip(COLOURS.iter().zip(0_i32..)) {
            let path: Vec<String> =
                values.iter().map(|(at, value)| format!("{:.1} {:.1}", x(*at), y(*value))).collect();
            writeln!(svg, r##"<path d="M{}" fill="none" stroke="{colour}" stroke-width="2"/>"##, path.join("L"))?;
            let below = TOP + HEIGHT + BELOW + LINE * f64::from(row + 1);
            writeln!(svg, r##"<rect x="{begin:.0}" y="{:.0}" width="12" height="3" fill="{colour}"/>"##, below - 5.0)?;
            text(svg, begin + 18.0, below, "start", name)?;
        }
        Ok(())
    }
}

/// Writes plots beside one another into docs/performance.
pub(crate) fn write(name: &str, plots: &[Plot]) {
    let lines = plots.iter().map(|plot| plot.lines.len()).max().unwrap_or_default();
    let (width, height) = (WIDTH * plots.len() as f64 + RIGHT, TOP + HEIGHT + BELOW + LINE * (lines as f64 + 1.0));
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" font-family="sans-serif" font-size="12" fill="#777">
"##
    );
    for (at, plot) in plots.iter().enumerate() {
        plot.draw(WIDTH * at as f64, &mut svg).unwrap();
    }
    svg.push_str("</svg>\n");
    let folder = PathBuf::from("docs/performance");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.svg")), svg).unwrap();
}
