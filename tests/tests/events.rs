//! What a subscriber sees of a proof: a span a phase, and one event with all times.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use bellwether_circuits::chain::CubicChain;
use bellwether_core::device::CpuDevice;
use bellwether_core::groth16::{
    Assignment, Blinding, Cancellation, Generators, Session, Trapdoor, generate_key,
};
use bellwether_core::r1cs::Recorder;
use blstrs::Scalar;
use pollster::block_on;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

/// Names of spans in the order in which they are made, and the fields of each event.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<(Vec<&'static str>, Vec<Fields>)>>);

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Record {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.0.lock().expect("no test panics here").0.push(attributes.metadata().name());
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().expect("no test panics here").1.push(fields);
    }
}

#[test]
fn a_proof_is_seven_spans_and_one_event() {
    let device = Arc::new(CpuDevice::new());
    let circuit = CubicChain::filling(6, Scalar::from(7u64));
    let r1cs = Arc::new(Recorder::record(circuit.clone()).unwrap());
    let trapdoor = Trapdoor::random().unwrap();
    let key = block_on(generate_key(&*device, &r1cs, &trapdoor, &Generators::default())).unwrap();
    let session = Session::for_circuit(device, &key, r1cs).unwrap();

    let record = Record::default();
    let subscriber = Registry::default().with(record.clone());
    let proven = tracing::subscriber::with_default(subscriber, || {
        let assignment = Assignment::collect(circuit).unwrap();
        block_on(session.prove(&assignment, &Blinding::random().unwrap(), &Cancellation::new())).unwrap()
    });

    let record = record.0.lock().unwrap();
    let (spans, events) = (&record.0, &record.1);
    assert_eq!(spans[..], ["synth", "spmv", "ntt_msm_h", "batch_add", "tail_msm", "b_g2_msm", "verify"]);
    let [event] = &events[..] else { panic!("{} events", events.len()) };
    for (name, milliseconds) in proven.times.milliseconds() {
        assert_eq!(event.0[name].parse::<f64>().unwrap(), milliseconds, "{name}");
    }
    assert_eq!(event.0["constraints"], "62");
    assert_eq!(event.0["attempts"], "1");
    assert!(event.0["device"].contains("cpu ("));

    // Phases are parts of the whole.
    let times = &proven.times;
    let phases = times.spmv + times.ntt_msm_h + times.batch_add + times.tail_msm + times.b_g2_msm;
    assert_eq!(phases, times.gpu_total);
    assert!(times.gpu_total <= times.gpu && times.synth + times.gpu + times.verify <= times.total);
}
